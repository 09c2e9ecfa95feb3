package node

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/storesync"
)

// An opener opens the backend that an archive's name stands for.
type opener func(context.Context) (archive.Backend, error)

// parseArchive returns the opener for name, nil for "".
func parseArchive(name string) (opener, error) {
	if name == "" {
		return nil, nil
	}
	if name == "memory" {
		return func(context.Context) (archive.Backend, error) { return archive.NewMemory(), nil }, nil
	}
	if file, ok := strings.CutPrefix(name, "sqlite:"); ok && file != "" {
		if err := sqlite.CheckName(file); err != nil {
			return nil, err
		}
		return func(ctx context.Context) (archive.Backend, error) { return sqlite.Open(ctx, file) }, nil
	}
	return nil, errors.New("want memory, sqlite::memory: or sqlite:FILE")
}

// ArchiveFile returns the file in which the archive called name, as in
// Options.Archive, keeps its messages: "" for one in memory and for none. An
// error says why Options would refuse the name.
func ArchiveFile(name string) (string, error) {
	if _, err := parseArchive(name); err != nil {
		return "", fmt.Errorf("node: archive %q: %w", name, err)
	}
	file, ok := strings.CutPrefix(name, "sqlite:")
	if !ok || file == sqlite.Memory {
		return "", nil
	}
	return file, nil
}

// openArchive opens the configured archive, if there is one, and makes it the
// relay's store. Opening ends with ctx; what is stored goes on with work.
func (n *Node) openArchive(ctx, work context.Context, o *relay.Options) error {
	if n.open == nil {
		return nil
	}
	backend, err := n.open(ctx)
	if err != nil {
		return fmt.Errorf("node: open archive: %w", err)
	}
	if d, ok := backend.(*sqlite.Database); ok && d.Lost() > 0 {
		n.logger.Warn("archive lost messages to a loss of power", "messages", d.Lost())
	}
	n.archive, err = archive.New(backend, archive.Options{
		Queue:   n.options.ArchiveQueue,
		Batch:   n.options.ArchiveBatch,
		Stored:  func(env *message.Envelope, err error) { n.stored(work, env, err) },
		Observe: n.committed,
		Logger:  n.logger,

		Window:    n.options.ArchiveWindow,
		Retention: n.options.Retention,
		Pruned:    n.pruned,
	})
	if err != nil {
		return errors.Join(err, backend.Close())
	}
	o.Store, o.Restore = n.archive.Store, n.archive.Restore
	return nil
}

func (n *Node) committed(messages int, took time.Duration, err error) {
	n.metrics.inserted(messages, took, err)
	if n.options.Committed != nil {
		n.options.Committed(messages, took, err)
	}
}

// stored tells the relay first, which puts the message into the sync set.
func (n *Node) stored(ctx context.Context, env *message.Envelope, err error) {
	n.relay.Stored(ctx, env, known(err))
	if n.syncer == nil {
		return
	}
	if errors.Is(err, archive.ErrDuplicate) {
		err = nil // it is there, however it came
	}
	n.syncer.Stored(env, err)
}

// pruned takes out of the sync set what the archive deleted.
func (n *Node) pruned(keys []message.Key) {
	if n.set == nil {
		return
	}
	for _, k := range keys {
		n.set.Delete(k)
	}
}

// known says in the relay's terms that the archive held a message before.
func known(err error) error {
	if errors.Is(err, archive.ErrDuplicate) {
		return fmt.Errorf("%w: %w", relay.ErrDuplicate, err)
	}
	return err
}

// openSet makes the sync set, which holds what the archive holds already.
func (n *Node) openSet(ctx context.Context) error {
	n.set = new(storesync.Set)
	for key, err := range n.archive.Keys(ctx) {
		if err != nil {
			return fmt.Errorf("node: fill sync set: %w", err)
		}
		n.set.Insert(key)
	}
	return nil
}
