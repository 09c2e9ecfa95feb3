package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/postgres"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/storesync"
)

// An opener opens the backend that an archive's name stands for.
type opener func(context.Context) (archive.Backend, error)

// handledLength is how many messages a node remembers to have handled, where other
// nodes store them in the same archive. It takes up to about 10 MB.
const handledLength = 1 << 16

// parseArchive returns the opener for name, nil for "". An archive that has
// something to tell tells log.
func parseArchive(name string, log *slog.Logger) (opener, error) {
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
	if postgres.IsURL(name) {
		if err := postgres.Check(name); err != nil {
			return nil, err
		}
		o := postgres.Options{Logger: log}
		return func(ctx context.Context) (archive.Backend, error) { return o.Open(ctx, name) }, nil
	}
	return nil, errors.New("want memory, sqlite::memory:, sqlite:FILE or postgres://USER@HOST/DATABASE")
}

// shownArchive returns the name of an archive as it may be printed: of one that is not
// known to hold no password only the beginning.
func shownArchive(name string) string {
	if i := strings.IndexAny(name, ":="); i >= 0 && !strings.HasPrefix(name, "sqlite:") {
		return name[:i+1] + "…"
	}
	return name
}

// ArchiveFile returns the file in which the archive called name, as in
// Options.Archive, keeps its messages: "" for one elsewhere and for none. An
// error says why Options would refuse the name.
func ArchiveFile(name string) (string, error) {
	if _, err := parseArchive(name, nil); err != nil {
		return "", fmt.Errorf("node: archive %q: %w", shownArchive(name), err)
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
	if s, ok := backend.(interface{ Shared() bool }); ok && s.Shared() {
		n.handled, err = lru.New[message.Hash, struct{}](handledLength)
		if err != nil {
			return errors.Join(err, backend.Close())
		}
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
	n.relay.Stored(ctx, env, n.outcome(env, err))
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

// outcome says in the relay's terms what the archive answered for env. One that
// held the message before, and that no other node fills, had it from this node,
// which has handled it then. One that others fill may have it from them: it is
// known only if this node remembers it. So a copy that comes again later than
// handledLength others, or after a restart, is handled once more.
func (n *Node) outcome(env *message.Envelope, err error) error {
	duplicate := errors.Is(err, archive.ErrDuplicate)
	if err != nil && !duplicate {
		return err
	}
	if n.handled != nil && !n.handles(env) {
		return nil
	}
	if duplicate {
		return fmt.Errorf("%w: %w", relay.ErrDuplicate, err)
	}
	return nil
}

// handles remembers a message that the archive holds, and reports whether it did
// before. The archive has made its hash. An ephemeral one is held nowhere.
func (n *Node) handles(env *message.Envelope) (before bool) {
	m, err := env.Message(counters.Site{})
	if err != nil || m.GetEphemeral() {
		return false
	}
	hash, err := env.Hash(counters.Site{})
	if err != nil {
		return false
	}
	before, _ = n.handled.ContainsOrAdd(hash, struct{}{})
	return before
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
