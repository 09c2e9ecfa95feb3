package archive_test

import (
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// Retention runs when the archive begins and at each interval, by the clock that it
// is given, and a pass that fails is made up for by the next.
func TestRetentionRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &failing{Memory: archive.NewMemory()}
		var rows []archive.Row
		begin := time.Now()
		for i := range 10 { // 0 to 9 minutes from now
			rows = append(rows, archivetest.Numbered(uint64(i), begin.Add(time.Duration(i)*time.Minute).UnixNano(), 8))
		}
		if _, err := b.Insert(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		a := start(t, b, archive.Options{
			Retention: archive.Retention{Age: 150 * time.Second, Interval: time.Minute}, Now: time.Now, Logger: slog.New(slog.DiscardHandler),
		})
		time.Sleep(30 * time.Second) // from here on between two of its looks
		for minute := range 14 {
			want := min(max(minute-2, 0), 10)
			if minute == 5 { // that of this minute failed
				want = 2
			}
			synctest.Wait()
			size, err := b.Size(t.Context())
			if err != nil || size.Messages != int64(10-want) {
				t.Errorf("minute %d: %d messages, error %v, want %d", minute, size.Messages, err, 10-want)
			}
			b.fail.Store(minute == 4)
			time.Sleep(time.Minute)
		}
		if s := a.Stats(); s.Pruned != 10 || s.PruneFailures != 1 || a.Ready() != nil {
			t.Errorf("pruned %d, %d failures, ready %v", s.Pruned, s.PruneFailures, a.Ready())
		}
	})
}

// failing is a Memory whose deletions fail while the test says so.
type failing struct {
	*archive.Memory
	fail  atomic.Bool
	panic atomic.Bool
}

func (f *failing) Delete(ctx context.Context, keys []message.Key) error {
	if f.panic.Load() {
		panic("deletion")
	}
	if f.fail.Load() {
		return errors.New("disk is read-only")
	}
	return f.Memory.Delete(ctx, keys)
}

func TestPruneTellsWhatFailed(t *testing.T) {
	b := &failing{Memory: archive.NewMemory()}
	a := newArchive(t, b, archive.Options{Retention: archive.Retention{Count: 1}, Logger: slog.New(slog.DiscardHandler)})
	defer closeArchive(t, a)
	if _, err := b.Insert(t.Context(), []archive.Row{archivetest.Numbered(1, 1, 8), archivetest.Numbered(2, 2, 8)}); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]*atomic.Bool{"read-only": &b.fail, "panicked: deletion": &b.panic} {
		c.Store(true)
		if err := a.Prune(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want it to say %q", err, want)
		}
		c.Store(false)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Prune(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if err := a.Prune(t.Context()); err != nil {
		t.Error(err)
	}
	if s := a.Stats(); s.Pruned != 1 {
		t.Errorf("pruned %d, want 1", s.Pruned)
	}
}

func TestRetentionRefuses(t *testing.T) {
	err := archive.Options{
		Window:    -1,
		Retention: archive.Retention{Age: -1, Count: -1, Bytes: math.MinInt64, Interval: -1, Batch: -1},
	}.Validate()
	for _, want := range []string{"Window", "Age", "Count", "Bytes", "Interval", "Batch"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %s", err, want)
		}
	}
}

// Two archives over one database, whose looks fall together, delete together what one
// would: the other deletes between what this one asks.
func TestRetentionOfTwoArchives(t *testing.T) {
	b := &between{Memory: archive.NewMemory()}
	var rows []archive.Row
	for i := range 15 {
		rows = append(rows, archivetest.Numbered(uint64(i), int64(i), 8))
	}
	if _, err := b.Insert(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	o := archive.Options{Retention: archive.Retention{Count: 10}, Logger: slog.New(slog.DiscardHandler)}
	first, second := newArchive(t, b, o), newArchive(t, b.Memory, o)
	b.step = func() {
		if err := second.Prune(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := first.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	size, err := b.Memory.Size(t.Context())
	if err != nil || size.Messages != 10 {
		t.Errorf("%d messages are left, error %v, want 10", size.Messages, err)
	}
	closeArchive(t, first)
	closeArchive(t, second)
}

// between is a Memory in which something happens before each size is told, and after
// each selection.
type between struct {
	*archive.Memory
	step func()
}

func (b *between) Size(ctx context.Context) (archive.Size, error) {
	b.step()
	defer b.step()
	return b.Memory.Size(ctx)
}

func (b *between) Select(ctx context.Context, s archive.Selection) ([]archive.Row, error) {
	defer b.step()
	return b.Memory.Select(ctx, s)
}

// A great many old messages do not keep an archive from its work while they are
// deleted (nwaku#2278): it is ready and stores meanwhile.
func TestRetentionOfManyAtTheStart(t *testing.T) {
	const old = 200_000
	b := archive.NewMemory()
	rows := make([]archive.Row, old)
	for i := range rows {
		key := message.Key{Timestamp: int64(i), Hash: message.Hash{byte(i), byte(i >> 8), byte(i >> 16)}}
		rows[i] = archive.Row{Key: key, Topic: archivetest.Topic, Message: &pb.WakuMessage{ContentTopic: "t", Timestamp: &key.Timestamp}}
	}
	if _, err := b.Insert(t.Context(), rows); err != nil {
		t.Fatal(err)
	}
	stored := make(chan uint64, 1)
	var a *running
	a = start(t, b, archive.Options{
		Retention: archive.Retention{Age: time.Hour}, Logger: slog.New(slog.DiscardHandler),
		Stored: func(*message.Envelope, error) { stored <- a.Stats().Pruned },
	})
	if err := a.Store(t.Context(), seal(t, &pb.WakuMessage{Timestamp: at(time.Now(), 0)})); err != nil {
		t.Fatal(err)
	}
	if pruned := <-stored; pruned >= old || a.Ready() != nil {
		t.Errorf("stored after %d deletions, ready: %v", pruned, a.Ready())
	}
	if err := a.Prune(t.Context()); err != nil {
		t.Fatal(err)
	}
	if size, err := b.Size(t.Context()); err != nil || size.Messages != 1 {
		t.Errorf("%d messages are left, error %v", size.Messages, err)
	}
}
