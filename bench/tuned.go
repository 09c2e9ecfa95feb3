package bench

import (
	"context"
	"runtime"
	"runtime/debug"

	"github.com/msgpath/msgpath/message/pb"
)

// checked is a Target whose runs are verified.
type checked interface {
	Target
	Accountant
	Verifier
}

// tuned is a Target of a process whose runtime is set otherwise, from Start to
// Close.
type tuned struct {
	checked
	set  func() (undo func())
	undo func()
}

func (t *tuned) Start(ctx context.Context, messages []*pb.WakuMessage) error {
	t.undo = t.set()
	return t.checked.Start(ctx, messages)
}

func (t *tuned) Close() error {
	err := t.checked.Close()
	if t.undo != nil {
		t.undo()
		t.undo = nil
	}
	return err
}

// Views is that of the target, if it has any.
func (t *tuned) Views() (int, error) {
	if v, ok := t.checked.(Viewer); ok {
		return v.Views()
	}
	return 0, nil
}

// collectorSet returns how to set the garbage collector: percent as GOGC has it,
// and a limit in bytes.
func collectorSet(percent int, limit int64) func() (undo func()) {
	return func() func() {
		oldPercent, oldLimit := debug.SetGCPercent(percent), debug.SetMemoryLimit(limit)
		return func() {
			debug.SetGCPercent(oldPercent)
			debug.SetMemoryLimit(oldLimit)
		}
	}
}

// processorsSet returns how to set GOMAXPROCS.
func processorsSet(n int) func() (undo func()) {
	return func() func() {
		before := runtime.GOMAXPROCS(n)
		return func() { runtime.GOMAXPROCS(before) }
	}
}
