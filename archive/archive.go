package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"time"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

var siteArchive = counters.NewSite("archive.archive")

// Defaults of [Options].
const (
	DefaultQueue = 256
	DefaultBatch = 32
)

// Options say how an Archive commits. The zero value holds the defaults.
type Options struct {
	Queue int // most messages accepted and not yet answered; 0: DefaultQueue
	Batch int // most messages a transaction; 0: DefaultBatch

	// Stored is called once for each accepted message, in order of acceptance:
	// with nil once it is committed and was new (or is ephemeral, and so never
	// stored), ErrDuplicate if its hash was there before, another error if it is
	// not stored. It runs on Run's goroutine, and holds up the next commit; it
	// must not call Store, Prune or Close. nil: nobody is told.
	Stored func(*message.Envelope, error)

	// Observe is called after each transaction with its number of messages, the
	// time spent in the backend and the backend's error, on Run's goroutine.
	Observe func(messages int, took time.Duration, err error)

	// Window is how far the timestamp of a message given to Store may lie from now, in
	// the past or the future. Others are refused, and so are messages without one: a
	// sender who chose a time far ahead would else be the latest for ever. 0: any
	// timestamp is stored.
	Window time.Duration

	Retention Retention // what is deleted again; the zero Retention keeps everything

	// Pruned is called after each deletion of the retention with the deleted keys, on
	// a goroutine of Run's, and holds up the next commit; it must not call Store, Prune
	// or Close. nil: nobody is told.
	Pruned func([]message.Key)

	Now    func() time.Time // for Window and Retention; nil: time.Now
	Logger *slog.Logger     // nil: slog.Default()
}

// Validate reports everything wrong with o.
func (o Options) Validate() error {
	var errs []error
	if o.Queue < 0 {
		errs = append(errs, fmt.Errorf("archive: options: Queue %d is negative", o.Queue))
	}
	if o.Batch < 0 {
		errs = append(errs, fmt.Errorf("archive: options: Batch %d is negative", o.Batch))
	}
	if o.Window < 0 {
		errs = append(errs, fmt.Errorf("archive: options: Window %v is negative", o.Window))
	}
	return errors.Join(append(errs, o.Retention.Validate())...)
}

func (o Options) withDefaults() Options {
	if o.Queue == 0 {
		o.Queue = DefaultQueue
	}
	if o.Batch == 0 {
		o.Batch = DefaultBatch
	}
	if o.Stored == nil {
		o.Stored = func(*message.Envelope, error) {}
	}
	if o.Observe == nil {
		o.Observe = func(int, time.Duration, error) {}
	}
	if o.Pruned == nil {
		o.Pruned = func([]message.Key) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	o.Retention = o.Retention.withDefaults()
	return o
}

// An Archive accepts messages and commits them to a Backend in groups. All its
// methods are safe for concurrent use.
type Archive struct {
	backend Backend
	options Options

	// A message holds a slot from acceptance to its answer, so that a send to
	// items never blocks and the batch at work counts against the bound.
	slots   chan struct{}
	items   chan item
	refused chan struct{} // closed when nothing more is accepted
	closing chan struct{} // closed by Close
	done    chan struct{} // closed when Run has returned
	once    sync.Once

	batch []item // Run's own, reused
	rows  []Row  // Run's own, reused

	// changing is held from an insert or a deletion until its outcome is told, so
	// that a key is not told of as stored after it was told of as deleted.
	changing sync.Mutex

	mu      sync.Mutex
	started bool
	running bool
	refusal error // why nothing more is accepted; nil: it is
	failure error // of the last insert; nil: it worked
	stats   Stats
	floor   *message.Key // the oldest key that is kept, while there is no room for older ones
}

type item struct {
	row Row // without a Message for an ephemeral message
	env *message.Envelope
}

func (it item) ephemeral() bool { return it.row.Message == nil }

// New returns an Archive that takes b over and starts nothing: see [Archive.Run].
// On an error b stays the caller's.
func New(b Backend, o Options) (*Archive, error) {
	if b == nil {
		return nil, errors.Join(errors.New("archive: new: no backend"), o.Validate())
	}
	if err := o.Validate(); err != nil {
		return nil, err
	}
	o = o.withDefaults()
	return &Archive{
		backend: b,
		options: o,
		slots:   make(chan struct{}, o.Queue),
		items:   make(chan item, o.Queue),
		refused: make(chan struct{}),
		closing: make(chan struct{}),
		done:    make(chan struct{}),
	}, nil
}

// Store accepts the message of env, to be committed by Run and answered to
// Options.Stored. It computes the message's key unless that is known, and
// blocks while Options.Queue messages wait. A message that it returns an error
// for was not accepted: the error is env's, wraps ErrTimestamp or ctx's, or wraps
// ErrClosed once Run or Close has ended the archive.
func (a *Archive) Store(ctx context.Context, env *message.Envelope) error {
	return a.store(ctx, env, a.checkLive)
}

// Restore is Store for a message that others had stored: it may be as old as
// retention allows, and is refused only if its timestamp is further ahead than
// Options.Window, or if it would be the next to be deleted.
func (a *Archive) Restore(ctx context.Context, env *message.Envelope) error {
	return a.store(ctx, env, a.checkOld)
}

func (a *Archive) store(ctx context.Context, env *message.Envelope, check func(item) error) error {
	it, err := newItem(env)
	if err == nil && !it.ephemeral() {
		err = check(it)
	}
	if err != nil {
		return fmt.Errorf("archive: store: %w", err)
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("archive: store: %w", err)
	}
	select {
	case a.slots <- struct{}{}:
		return a.accept(it)
	case <-a.refused:
		a.mu.Lock()
		defer a.mu.Unlock()
		return fmt.Errorf("archive: store: %w", a.refusal)
	case <-ctx.Done():
		return fmt.Errorf("archive: store: %w", ctx.Err())
	}
}

func newItem(env *message.Envelope) (item, error) {
	if counters.Enabled {
		defer counters.Label(env.Counts(), siteArchive).End()
	}
	m, err := env.Message(siteArchive)
	if err != nil {
		return item{}, err
	}
	if m.GetEphemeral() {
		return item{env: env}, nil
	}
	key, err := env.Key(siteArchive)
	if err != nil {
		return item{}, err
	}
	row := Row{counts: env.Counts(), wire: len(env.Bytes()), Key: key, Topic: env.Topic(), Message: m}
	return item{row: row, env: env}, nil
}

// accept queues it, for which the caller holds a slot, unless the archive
// accepts nothing more. One lock decides, so that Run's last look at the queue
// is the last.
func (a *Archive) accept(it item) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refusal != nil {
		<-a.slots
		return fmt.Errorf("archive: store: %w", a.refusal)
	}
	a.stats.Accepted++
	a.items <- it
	return nil
}

// refuse makes Store refuse from now on. The first reason stays.
func (a *Archive) refuse(why error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refusal == nil {
		a.refusal = why
		close(a.refused)
	}
}

// Get returns the row with hash h. The error wraps ErrNotFound where there is
// none. A message that was accepted and is not committed is not found.
func (a *Archive) Get(ctx context.Context, h message.Hash) (Row, error) {
	return Get(ctx, a.backend, h)
}

// Has reports whether a message with hash h is committed, without reading it.
func (a *Archive) Has(ctx context.Context, h message.Hash) (bool, error) {
	_, ok, err := a.key(ctx, h)
	if err != nil {
		return false, fmt.Errorf("archive: look for %s: %w", h, err)
	}
	return ok, nil
}

// key returns the key of the committed message with hash h, false if there is none.
func (a *Archive) key(ctx context.Context, h message.Hash) (message.Key, bool, error) {
	rows, err := a.backend.Select(ctx, Selection{Hashes: []message.Hash{h}, Limit: 1})
	if err != nil || len(rows) == 0 {
		return message.Key{}, false, err
	}
	return rows[0].Key, true, nil
}

// Keys yields the keys of the committed messages, ascending by timestamp and
// hash. The loop's body may use the archive. It ends after the first error.
func (a *Archive) Keys(ctx context.Context) iter.Seq2[message.Key, error] {
	return Keys(ctx, a.backend)
}

// Checkpoint brings what is committed to where it would be after Close, for
// backends that put that off, as a SQLite file does: then a measured run has paid
// for all that it stored. Messages may be stored meanwhile.
func (a *Archive) Checkpoint(ctx context.Context) error {
	if b, ok := a.backend.(interface{ Checkpoint(context.Context) error }); ok {
		return b.Checkpoint(ctx)
	}
	return nil
}

// Ready returns nil, or why the archive cannot store: Run does not run, the last
// insert failed and none has worked since, or the backend says so of itself, as
// one does whose insert waits for a server.
func (a *Archive) Ready() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.refusal != nil:
		return fmt.Errorf("archive: not ready: %w", a.refusal)
	case !a.running:
		return fmt.Errorf("archive: not ready: %w", errIdle)
	case a.failure != nil:
		return fmt.Errorf("archive: not ready: last insert: %w", a.failure)
	}
	if b, ok := a.backend.(interface{ Ready() error }); ok {
		if err := b.Ready(); err != nil {
			return fmt.Errorf("archive: not ready: %w", err)
		}
	}
	return nil
}

// Close stops Run, which first commits what was accepted, waits for it, and
// closes the backend. If Run was never called, Close commits in its place. A
// second Close returns nil.
func (a *Archive) Close() (err error) {
	a.once.Do(func() {
		a.refuse(ErrClosed)
		close(a.closing)
		a.mu.Lock()
		started := a.started
		a.mu.Unlock()
		if started {
			<-a.done
		} else {
			err = a.finish(context.Background())
		}
		err = errors.Join(err, a.backend.Close())
	})
	return err
}
