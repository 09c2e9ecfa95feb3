package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/node"
)

// Cost is what it took to keep some messages.
type Cost struct {
	Wall  time.Duration
	CPU   time.Duration // of the process, kernel included
	Bytes int64         // of payload
}

// InsertRate inserts messages into a new archive of the name, as in
// node.Options.Archive, in batches of a size, and returns what that cost: nothing
// but inserts, and at the end a checkpoint, so that all that was inserted is on
// the disk in its last place when the time ends. Hashing is not part of it. The
// files are removed afterwards.
//
// With sqlite.SyncLater the disk is asked for every sqlite.PartBytes beside the
// inserts, and at the end; with sqlite.SyncEach before each batch returns. Compare
// with [AppendRate] of the same sync.
func InsertRate(ctx context.Context, name string, sync sqlite.Sync, messages []*pb.WakuMessage, batch int) (cost Cost, err error) {
	if batch < 1 {
		return cost, fmt.Errorf("bench: insert: batch %d is not positive", batch)
	}
	clean, err := claimArchive(name)
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, clean()) }()
	backend, err := openBackend(ctx, name, sync)
	if err != nil {
		return cost, err
	}
	defer func() { err = errors.Join(err, backend.Close()) }()
	rows := rowsOf(messages)
	ctx = context.WithoutCancel(ctx) // as an archive inserts: a context that can end costs a goroutine a row
	return timed(messages, func() error {
		for rest := rows; len(rest) > 0; rest = rest[min(batch, len(rest)):] {
			if _, err := backend.Insert(ctx, rest[:min(batch, len(rest))]); err != nil {
				return err
			}
		}
		if c, ok := backend.(checkpointer); ok {
			return c.Checkpoint(ctx)
		}
		return nil
	})
}

func openBackend(ctx context.Context, name string, sync sqlite.Sync) (archive.Backend, error) {
	if _, err := node.ArchiveFile(name); err != nil {
		return nil, err
	}
	if file, ok := strings.CutPrefix(name, "sqlite:"); ok {
		return sqlite.Options{Sync: sync}.Open(ctx, file)
	}
	return archive.NewMemory(), nil
}

func rowsOf(messages []*pb.WakuMessage) []archive.Row {
	rows := make([]archive.Row, len(messages))
	for i, m := range messages {
		key := message.Key{Timestamp: m.GetTimestamp(), Hash: message.Blake3.Sum(PubsubTopic, m)} //msgpath:uncounted before what is measured
		rows[i] = archive.Row{Key: key, Topic: PubsubTopic, Message: m}
	}
	return rows
}

// AppendRate appends the same messages, encoded, to a new file, and returns what
// that cost: the least that keeping them can cost with a file that is written and
// synchronised. Encoding is not part of it. Each message is one write. With
// sqlite.SyncEach the file is synchronised after each batch; with
// sqlite.SyncLater whenever sqlite.PartBytes have come together, beside the
// writes, as an archive does, and at the end. The file is removed afterwards.
func AppendRate(ctx context.Context, file string, sync sqlite.Sync, messages []*pb.WakuMessage, batch int) (cost Cost, err error) {
	if batch < 1 {
		return cost, fmt.Errorf("bench: append: batch %d is not positive", batch)
	}
	encoded := make([][]byte, len(messages))
	for i, m := range messages {
		if encoded[i], err = encode(m); err != nil { //msgpath:uncounted before what is measured
			return cost, err
		}
	}
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return cost, fmt.Errorf("bench: append: %w", err)
	}
	defer func() { err = errors.Join(err, f.Close(), os.Remove(file)) }()
	a := appender{file: f, each: sync == sqlite.SyncEach}
	return timed(messages, func() error {
		for rest := encoded; len(rest) > 0; rest = rest[min(batch, len(rest)):] {
			if err := errors.Join(ctx.Err(), a.write(rest[:min(batch, len(rest))])); err != nil {
				return errors.Join(err, a.wait())
			}
		}
		return errors.Join(a.wait(), f.Sync())
	})
}

// An appender writes to a file and synchronises it.
type appender struct {
	file    *os.File
	each    bool
	pending int        // bytes since the last sync began
	syncing chan error // nil: none is at work
}

func (a *appender) write(batch [][]byte) error {
	for _, data := range batch {
		if _, err := a.file.Write(data); err != nil {
			return err
		}
		a.pending += len(data)
	}
	if a.each {
		return a.file.Sync()
	}
	if a.pending < sqlite.PartBytes {
		return nil
	}
	if err := a.wait(); err != nil {
		return err
	}
	a.pending, a.syncing = 0, make(chan error, 1)
	go func(done chan<- error) { done <- a.file.Sync() }(a.syncing)
	return nil
}

// wait returns after the sync at work.
func (a *appender) wait() error {
	if a.syncing == nil {
		return nil
	}
	err := <-a.syncing
	a.syncing = nil
	return err
}

func timed(messages []*pb.WakuMessage, keep func() error) (Cost, error) {
	cost := Cost{Bytes: Workload{Messages: messages}.PayloadBytes()}
	start, used := time.Now(), processCPU()
	err := keep()
	cost.Wall, cost.CPU = time.Since(start), time.Duration(processCPU()-used)
	if err != nil {
		return Cost{}, fmt.Errorf("bench: keep %d messages: %w", len(messages), err)
	}
	return cost, nil
}

// A checkpointer is what puts work on an archive off, and can be made to do it.
type checkpointer interface {
	Checkpoint(ctx context.Context) error
}

// checkpoint makes t do what its archive has put off, so that a run pays for all
// that it stored and for nothing that was stored before.
func checkpoint(ctx context.Context, t Target) error {
	if c, ok := t.(checkpointer); ok {
		return c.Checkpoint(ctx)
	}
	return nil
}

// Checkpoint implements checkpointer with the receiver's archive.
func (t *nodeTarget) Checkpoint(ctx context.Context) error {
	if a := t.receiver.Archive(); a != nil {
		return a.Checkpoint(ctx)
	}
	return nil
}
