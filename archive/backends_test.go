package archive_test

import (
	"context"
	"testing"

	"github.com/msgpath/msgpath/archive"
)

// A gate is a Memory whose inserts wait to be let through, one for each value
// sent to open, and fail with that value if it is not nil.
type gate struct {
	*archive.Memory
	reached chan []archive.Row // each insert, when it begins
	open    chan error
}

func newGate() *gate {
	return &gate{Memory: archive.NewMemory(), reached: make(chan []archive.Row), open: make(chan error)}
}

func (g *gate) Insert(ctx context.Context, rows []archive.Row) ([]bool, error) {
	g.reached <- rows
	if err := <-g.open; err != nil {
		return nil, err
	}
	return g.Memory.Insert(ctx, rows)
}

// A script is a Memory that does what the test says at each insert.
type script struct {
	*archive.Memory
	insert func(ctx context.Context, rows []archive.Row) ([]bool, error)
}

func (s script) Insert(ctx context.Context, rows []archive.Row) ([]bool, error) {
	return s.insert(ctx, rows)
}

// running is an archive whose Run has been started.
type running struct {
	*archive.Archive
	cancel context.CancelFunc
	result chan error // of Run
}

func start(t *testing.T, b archive.Backend, o archive.Options) *running {
	t.Helper()
	a := newArchive(t, b, o)
	ctx, cancel := context.WithCancel(t.Context())
	r := &running{Archive: a, cancel: cancel, result: make(chan error, 1)}
	go func() { r.result <- a.Run(ctx) }()
	t.Cleanup(func() { cancel(); closeArchive(t, a) })
	return r
}

func newArchive(t *testing.T, b archive.Backend, o archive.Options) *archive.Archive {
	t.Helper()
	a, err := archive.New(b, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func closeArchive(t *testing.T, a *archive.Archive) {
	t.Helper()
	if err := a.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
