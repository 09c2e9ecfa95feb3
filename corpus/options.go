package corpus

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Defaults of [Options], and bounds of a [Writer].
const (
	DefaultMaxBytes = 256 << 20
	DefaultFiles    = 4

	MinMaxBytes = 4096 // the least MaxBytes

	QueueMessages = 4096     // most messages that wait to be written
	QueueBytes    = 32 << 20 // most bytes that they have
)

const (
	flushEvery = time.Second
	bufferSize = 64 << 10
)

// Options say where and how much a [Writer] records. The zero value names no file,
// which is none to record to.
type Options struct {
	Path     string // FILE
	MaxBytes int64  // of each file; 0: DefaultMaxBytes
	Files    int    // kept: FILE, FILE.1 …; 0: DefaultFiles

	Logger *slog.Logger // nil: discarded
}

// Validate reports everything wrong with o.
func (o Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("corpus: options: "+format, args...)) }
	if o.Path == "" {
		bad("no Path")
	}
	if o.MaxBytes != 0 && o.MaxBytes < MinMaxBytes {
		bad("MaxBytes %d: want at least %d", o.MaxBytes, MinMaxBytes)
	}
	if o.Files < 0 {
		bad("Files %d is negative", o.Files)
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	o.MaxBytes = cmp.Or(o.MaxBytes, DefaultMaxBytes)
	o.Files = cmp.Or(o.Files, DefaultFiles)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
