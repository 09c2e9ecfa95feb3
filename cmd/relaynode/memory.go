package main

import (
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime/debug"
	"strconv"
	"strings"
)

// off is how GOGC and GOMEMLIMIT say that there is none.
const off = "off"

// parseGOGC returns a percentage as GOGC has it, -1 for off.
func parseGOGC(text string) (percent int, err error) {
	if text == off {
		return -1, nil
	}
	n, err := strconv.ParseInt(text, 10, 32)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%q: want a percentage of at least 1, or off", text)
	}
	return int(n), nil
}

// sizes are the units of a size, those of GOMEMLIMIT, the longest names first.
var sizes = []struct {
	unit  string
	bytes int64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"TiB", 1 << 40}, {"B", 1}, {"", 1}}

// parseMemoryLimit returns a number of bytes as GOMEMLIMIT has it, the greatest
// there is for off.
func parseMemoryLimit(text string) (bytes int64, err error) {
	if text == off {
		return math.MaxInt64, nil
	}
	if bytes, err = parseSize(text); err != nil {
		err = fmt.Errorf("%w, or off", err)
	}
	return bytes, err
}

// parseSize returns a number of bytes, at least 1.
func parseSize(text string) (bytes int64, err error) {
	for _, s := range sizes {
		number, ok := strings.CutSuffix(text, s.unit)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || n < 1 || n > math.MaxInt64/s.bytes {
			break
		}
		return n * s.bytes, nil
	}
	return 0, fmt.Errorf("%q: want bytes, as 512MiB or 2GiB", text)
}

// checkMemory reports everything wrong with the flags of the garbage collector.
// A collector that is off and has no limit to run at ends in the kernel's.
func (f flags) checkMemory() error {
	var errs []error
	if f.GOGC != "" {
		_, err := parseGOGC(f.GOGC)
		errs = append(errs, wrong("--gogc", err))
	}
	if f.MemoryLimit != "" {
		_, err := parseMemoryLimit(f.MemoryLimit)
		errs = append(errs, wrong("--memory-limit", err))
	}
	if f.GOGC == off && (f.MemoryLimit == off || f.MemoryLimit == "" && debug.SetMemoryLimit(-1) == math.MaxInt64) {
		errs = append(errs, errors.New("--gogc: off needs a --memory-limit: nothing would ever be collected"))
	}
	return errors.Join(errs...)
}

// setMemory sets the garbage collector as validated flags say. What they do not
// say the runtime has out of GOGC and GOMEMLIMIT.
func (f flags) setMemory(logger *slog.Logger) {
	if f.GOGC != "" {
		percent, _ := parseGOGC(f.GOGC)
		debug.SetGCPercent(percent)
	}
	if f.MemoryLimit != "" {
		limit, _ := parseMemoryLimit(f.MemoryLimit)
		debug.SetMemoryLimit(limit)
	}
	if f.GOGC != "" || f.MemoryLimit != "" {
		logger.Info("garbage collector set", "gogc", f.GOGC, "memory_limit", f.MemoryLimit)
	}
}
