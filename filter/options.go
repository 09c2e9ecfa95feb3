package filter

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options say what a Server offers to whom. The zero value holds the defaults.
type Options struct {
	MaxPeers  int // peers subscribed at once; 0: 100
	MaxTopics int // pairs of pubsub and content topic of one peer; 0: 1000
	Queue     int // messages that wait for one peer; 0: 64

	TTL         time.Duration // how long a subscription lasts after the peer's last subscribe or ping; 0: 5 minutes
	Unreachable time.Duration // how long pushes to a peer may fail, from the first one to another, before it is removed; 0: 1 minute
	Timeout     time.Duration // to read or answer a request, to open a stream for pushes, and to write one; 0: 10 seconds

	Window       time.Duration // how long a message that was pushed is not pushed again; 0: 2 minutes
	WindowHashes int           // messages of which that is known: with more, the oldest are forgotten early; 0: 65536

	Logger *slog.Logger // nil: discarded; at debug level it tells of every push
}

func (o *Options) numbers() []field[int] {
	return []field[int]{
		{"MaxPeers", &o.MaxPeers, 100},
		{"MaxTopics", &o.MaxTopics, 1000},
		{"Queue", &o.Queue, 64},
		{"WindowHashes", &o.WindowHashes, 1 << 16},
	}
}

func (o *Options) times() []field[time.Duration] {
	return []field[time.Duration]{
		{"TTL", &o.TTL, 5 * time.Minute},
		{"Unreachable", &o.Unreachable, time.Minute},
		{"Timeout", &o.Timeout, 10 * time.Second},
		{"Window", &o.Window, 2 * time.Minute},
	}
}

// field is an option of which 0 means its standard.
type field[T int | time.Duration] struct {
	name     string
	value    *T
	standard T
}

func (f field[T]) check() error {
	if *f.value < 0 {
		return fmt.Errorf("filter: options: %s %v is negative", f.name, *f.value)
	}
	return nil
}

func (f field[T]) set() {
	if *f.value == 0 {
		*f.value = f.standard
	}
}

// Validate reports everything wrong with o.
func (o Options) Validate() error {
	var errs []error
	for _, f := range o.numbers() {
		errs = append(errs, f.check())
	}
	for _, f := range o.times() {
		errs = append(errs, f.check())
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	for _, f := range o.numbers() {
		f.set()
	}
	for _, f := range o.times() {
		f.set()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
