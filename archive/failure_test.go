package archive_test

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
)

var errDisk = errors.New("disk is full")

func quiet() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

func TestFailedInsertIsAnsweredAndEndsReadiness(t *testing.T) {
	g := newGate()
	stored, told := answers()
	a := start(t, g, archive.Options{Stored: stored, Logger: quiet()})
	step := func(n int, result error) {
		mustStore(t, a.Archive, envelope(t, n))
		<-g.reached
		g.open <- result
		requireAnswers(t, told, answer{n, result})
	}
	step(1, nil)
	if err := a.Ready(); err != nil {
		t.Fatal(err)
	}
	step(2, errDisk)
	requireIs(t, "ready", a.Ready(), errDisk)
	mustStore(t, a.Archive, ephemeral(t, 3))
	requireAnswers(t, told, answer{3, nil})
	requireIs(t, "ready, after a message that needs no insert", a.Ready(), errDisk)
	step(4, nil)
	if err := a.Ready(); err != nil {
		t.Fatal(err)
	}
	s := a.Stats()
	requireBalanced(t, s)
	if s.Failed != 1 || s.Stored != 2 || s.Batches != 3 {
		t.Fatalf("got %+v", s)
	}
	requireStored(t, a.Archive, 1, 4)
}

func TestPanicEndsRun(t *testing.T) {
	var a *archive.Archive
	reached, release := make(chan struct{}), make(chan struct{})
	b := script{archive.NewMemory(), func(context.Context, []archive.Row) ([]bool, error) {
		close(reached)
		<-release
		panic("page 7 is torn")
	}}
	stored, told := answers()
	var observed error
	a = newArchive(t, b, archive.Options{
		Batch: 1, Queue: 3, Stored: stored, Logger: quiet(),
		Observe: func(_ int, _ time.Duration, err error) { observed = err },
	})
	result := make(chan error, 1)
	go func() { result <- a.Run(t.Context()) }()
	mustStore(t, a, envelope(t, 1))
	<-reached
	mustStore(t, a, envelope(t, 2), ephemeral(t, 3))
	close(release)
	err := <-result
	if err == nil {
		t.Fatal("Run returned nil after a panic")
	}
	requireAnswers(t, told, answer{1, observed}, answer{2, observed}, answer{3, nil})
	if observed == nil {
		t.Fatal("the panic was not observed")
	}
	requireIs(t, "ready", a.Ready(), archive.ErrClosed)
	requireIs(t, "store", a.Store(t.Context(), envelope(t, 5)), archive.ErrClosed)
	requireBalanced(t, a.Stats())
	if err := a.Run(t.Context()); err == nil {
		t.Fatal("Run ran twice")
	}
	closeArchive(t, a)
}

// A panic in a caller's hook is the caller's; it must not leave Close waiting.
func TestPanicOfAHookReachesTheCaller(t *testing.T) {
	a := newArchive(t, archive.NewMemory(), archive.Options{
		Stored: func(*message.Envelope, error) { panic(errDisk) },
	})
	mustStore(t, a, envelope(t, 1))
	func() {
		defer func() {
			if v := recover(); v != errDisk {
				t.Fatalf("recovered %v", v)
			}
		}()
		_ = a.Run(t.Context())
	}()
	requireIs(t, "ready", a.Ready(), archive.ErrClosed)
	closeArchive(t, a)
}

func TestWrongAnswerLengthIsAnError(t *testing.T) {
	b := script{archive.NewMemory(), func(context.Context, []archive.Row) ([]bool, error) { return nil, nil }}
	told := make(chan error, 1)
	a := start(t, b, archive.Options{
		Logger: quiet(), Stored: func(_ *message.Envelope, err error) { told <- err },
	})
	mustStore(t, a.Archive, envelope(t, 1))
	if err := <-told; err == nil {
		t.Fatal("told nil for a message that the backend said nothing about")
	}
	if a.Ready() == nil {
		t.Fatal("ready")
	}
}

func TestCloseWithoutRunReportsAPanic(t *testing.T) {
	b := script{archive.NewMemory(), func(context.Context, []archive.Row) ([]bool, error) { panic(errDisk) }}
	told := make(chan error, 1)
	a := newArchive(t, b, archive.Options{
		Logger: quiet(), Stored: func(_ *message.Envelope, err error) { told <- err },
	})
	mustStore(t, a, envelope(t, 1))
	if a.Close() == nil || <-told == nil {
		t.Fatal("a message was lost and nobody was told")
	}
	closeArchive(t, a)
}

func TestReadyOnlyWhileRunning(t *testing.T) {
	a := newArchive(t, archive.NewMemory(), archive.Options{})
	if a.Ready() == nil {
		t.Fatal("ready before Run")
	}
	closeArchive(t, a)
	requireIs(t, "ready", a.Ready(), archive.ErrClosed)
}

func TestCloseCommitsWhatWasAccepted(t *testing.T) {
	g := newGate()
	stored, told := answers()
	a := start(t, g, archive.Options{Stored: stored, Batch: 2})
	mustStore(t, a.Archive, envelope(t, 1))
	<-g.reached
	mustStore(t, a.Archive, envelope(t, 2), envelope(t, 3), envelope(t, 4))
	closed := make(chan error, 2)
	for range 2 { // the second waits too
		go func() { closed <- a.Close() }()
	}
	g.open <- nil
	for range 2 {
		<-g.reached
		g.open <- nil
	}
	for range 2 {
		if err := <-closed; err != nil {
			t.Fatal(err)
		}
	}
	if err := <-a.result; err != nil {
		t.Fatal(err)
	}
	requireAnswers(t, told, answer{1, nil}, answer{2, nil}, answer{3, nil}, answer{4, nil})
	requireIs(t, "store", a.Store(t.Context(), envelope(t, 5)), archive.ErrClosed)
	_, err := a.Get(t.Context(), message.Hash{})
	requireIs(t, "get", err, archive.ErrClosed)
}

func TestCloseWithoutRunCommits(t *testing.T) {
	stored, told := answers()
	a := newArchive(t, archive.NewMemory(), archive.Options{Stored: stored, Queue: 2})
	mustStore(t, a, envelope(t, 1), ephemeral(t, 2))
	blocked := make(chan error, 1)
	go func() { blocked <- a.Store(t.Context(), envelope(t, 3)) }()
	closeArchive(t, a)
	requireIs(t, "store", <-blocked, archive.ErrClosed)
	requireAnswers(t, told, answer{1, nil}, answer{2, nil})
	if s := a.Stats(); s.Stored != 1 {
		t.Fatalf("got %+v", s)
	}
	requireIs(t, "run", a.Run(t.Context()), archive.ErrClosed)
	requireBalanced(t, a.Stats())
	closeArchive(t, a)
}

// Many store while Run ends: each message that was accepted is answered, each
// other refused.
func TestEveryAcceptedMessageIsAnswered(t *testing.T) {
	const storers = 4
	var answered int
	a := start(t, archive.NewMemory(), archive.Options{
		Queue: 3, Batch: 2, Stored: func(*message.Envelope, error) { answered++ },
	})
	accepted, full := make(chan int, storers), make(chan struct{}, storers)
	for s := range storers {
		go func() {
			n := 0
			for ; a.Store(t.Context(), envelope(t, s<<32+n)) == nil; n++ {
				if n == 50 {
					full <- struct{}{}
				}
			}
			accepted <- n
		}()
	}
	<-full
	a.cancel()
	if err := <-a.result; err != nil {
		t.Fatal(err)
	}
	sum := 0
	for range storers {
		sum += <-accepted
	}
	s := a.Stats()
	if answered != sum || s.Stored != uint64(sum) || s.Queued != 0 {
		t.Fatalf("accepted %d, answered %d, %+v", sum, answered, s)
	}
}

// waiting is a Memory that says why it is not ready.
type waiting struct {
	*archive.Memory
	why error
}

func (w *waiting) Ready() error { return w.why }

func TestReadyAsksTheBackend(t *testing.T) {
	b := &waiting{archive.NewMemory(), errDisk}
	told := make(chan error, 1)
	a := start(t, b, archive.Options{Stored: func(_ *message.Envelope, err error) { told <- err }})
	mustStore(t, a.Archive, envelope(t, 1))
	if err := <-told; err != nil {
		t.Fatal(err)
	}
	requireIs(t, "ready", a.Ready(), errDisk)
	b.why = nil
	if err := a.Ready(); err != nil {
		t.Fatal(err)
	}
}
