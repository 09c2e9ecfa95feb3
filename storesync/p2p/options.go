package p2p

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/storesync/negentropy"
)

// Store is what a Syncer needs of the node's store. All but Oldest is needed, and
// all is called from several goroutines at once.
type Store struct {
	// Snapshot returns the keys of the stored messages with from <= timestamp < to,
	// in nanoseconds of Unix time. It must not change afterwards.
	Snapshot func(from, to int64) (negentropy.Set, error)

	// Load returns a stored message and its pubsub topic; a nil message is one that
	// is not there. The message is shared and not changed.
	Load func(context.Context, message.Hash) (topic string, m *pb.WakuMessage, err error)

	// Has reports whether a message is stored, without reading it: it is called for
	// each id that a peer offers.
	Has func(context.Context, message.Hash) (bool, error)

	// Accept takes a message that was asked for, decoded and hashed. After a nil
	// error, the Syncer's Stored must be called once with what became of it. An
	// error that wraps ErrRefused is remembered. It may block, for less than the
	// peer's StepTime.
	Accept func(context.Context, *message.Envelope) error

	// Oldest returns the timestamp below which Accept refuses every message, as a
	// retention does that has no room for older ones; nil: it refuses none for that.
	// Sessions leave those out.
	Oldest func() int64
}

// MinFrameBytes is the least that FrameBytes can be: a frame of Negentropy of the
// least size, and its kind.
const MinFrameBytes = negentropy.MinFrameBytes + kindSize

// Options say when a Syncer begins sessions, and what a peer may cost. The zero
// value begins none and answers with the defaults given below.
type Options struct {
	Counts counters.Set   // the node's counters; the zero Set counts nothing
	Format message.Format // as the node's relay reads messages

	// Which peers Run chooses from; nil: those connected that speak the protocol.
	Peers func() []peer.ID

	Interval time.Duration // from one session that Run begins to the next; 0: it begins none
	Jitter   time.Duration // each Interval is as much longer or shorter, at most; 0: a fifth of it
	Range    time.Duration // how far back of the last full session with a peer the next one goes; 0: 1 h
	CatchUp  time.Duration // how far back any session goes, the first with a peer first of all; 0: no bound
	Settle   time.Duration // messages younger than this may be under way and are left out; 0: 20 s

	// Limits of one session, for either side. The lesser of both sides' counts for
	// FrameBytes, Batch and Rounds.
	FrameBytes    int           // a frame, but of a message; 0: 64 KiB
	Ranges        int           // ranges in a frame of Negentropy; 0: 32,768
	Rounds        int           // frames of Negentropy from one side; 0: 1,024
	Claims        int           // ids that a peer may say or offer it has; 0: 131,072
	Ask           int           // messages to ask for; 0: 16,384
	Batch         int           // ids asked for or offered at once; 0: 64
	ServeMessages int           // messages to look for and send; 0: 16,384
	ServeBytes    int           // bytes of messages to send; 0: 256 MiB
	StepTime      time.Duration // for each frame to come or go; 0: 30 s
	SessionTime   time.Duration // 0: 10 minutes

	// Limits of all sessions together.
	Sessions   int           // sessions that peers began, at once, one a peer; 0: 8
	PeerRate   int           // sessions that a peer may begin in PeerPeriod; 0: 30
	PeerPeriod time.Duration // 0: 10 minutes
	ShunTime   time.Duration // for which a peer that broke the protocol is neither asked nor answered; 0: 10 minutes
	Pending    int           // messages asked for or accepted, and not answered by Stored; 0: 1,024
	Refusals   int           // refused messages of a peer, which are remembered; then it is asked for no other in RefusalTTL; 0: 16,384
	RefusalTTL time.Duration // from a peer's first refused message on; then all of it are forgotten; 0: 1 h

	Now    func() time.Time // the clock; nil: time.Now
	Rand   *rand.Rand       // for Run alone; nil: seeded by chance
	Logger *slog.Logger     // nil: discarded
}

// Defaults of [Options].
const (
	DefaultRange         = time.Hour
	DefaultSettle        = 20 * time.Second
	DefaultFrameBytes    = 64 << 10
	DefaultRanges        = 1 << 15
	DefaultRounds        = 1 << 10
	DefaultClaims        = 1 << 17
	DefaultAsk           = 1 << 14
	DefaultBatch         = 64
	DefaultServeMessages = 1 << 14
	DefaultServeBytes    = 256 << 20
	DefaultStepTime      = 30 * time.Second
	DefaultSessionTime   = 10 * time.Minute
	DefaultSessions      = 8
	DefaultPeerRate      = 30
	DefaultPeerPeriod    = 10 * time.Minute
	DefaultShunTime      = 10 * time.Minute
	DefaultPending       = 1 << 10
	DefaultRefusals      = 1 << 14
	DefaultRefusalTTL    = time.Hour
)

// setting is one number of Options.
type setting[T int | time.Duration] struct {
	name      string
	value     *T
	byDefault T
}

func (o *Options) numbers() []setting[int] {
	return []setting[int]{
		{"FrameBytes", &o.FrameBytes, DefaultFrameBytes},
		{"Ranges", &o.Ranges, DefaultRanges},
		{"Rounds", &o.Rounds, DefaultRounds},
		{"Claims", &o.Claims, DefaultClaims},
		{"Ask", &o.Ask, DefaultAsk},
		{"Batch", &o.Batch, DefaultBatch},
		{"ServeMessages", &o.ServeMessages, DefaultServeMessages},
		{"ServeBytes", &o.ServeBytes, DefaultServeBytes},
		{"Sessions", &o.Sessions, DefaultSessions},
		{"PeerRate", &o.PeerRate, DefaultPeerRate},
		{"Pending", &o.Pending, DefaultPending},
		{"Refusals", &o.Refusals, DefaultRefusals},
	}
}

func (o *Options) durations() []setting[time.Duration] {
	return []setting[time.Duration]{
		{"Interval", &o.Interval, 0},
		{"Jitter", &o.Jitter, o.Interval / 5},
		{"Range", &o.Range, DefaultRange},
		{"CatchUp", &o.CatchUp, 0},
		{"Settle", &o.Settle, DefaultSettle},
		{"StepTime", &o.StepTime, DefaultStepTime},
		{"SessionTime", &o.SessionTime, DefaultSessionTime},
		{"PeerPeriod", &o.PeerPeriod, DefaultPeerPeriod},
		{"ShunTime", &o.ShunTime, DefaultShunTime},
		{"RefusalTTL", &o.RefusalTTL, DefaultRefusalTTL},
	}
}

// Validate reports everything wrong with o.
func (o Options) Validate() error {
	errs := []error{o.Format.Validate()}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("p2p: options: "+format, args...)) }
	for _, s := range o.numbers() {
		if *s.value < 0 {
			bad("%s %d is negative", s.name, *s.value)
		}
	}
	for _, s := range o.durations() {
		if *s.value < 0 {
			bad("%s %v is negative", s.name, *s.value)
		}
	}
	if o.FrameBytes > 0 && o.FrameBytes < MinFrameBytes {
		bad("FrameBytes %d is below %d", o.FrameBytes, MinFrameBytes)
	}
	if o.Jitter > o.Interval {
		bad("Jitter %v is more than Interval %v", o.Jitter, o.Interval)
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	for _, s := range o.numbers() {
		if *s.value == 0 {
			*s.value = s.byDefault
		}
	}
	for _, s := range o.durations() {
		if *s.value == 0 {
			*s.value = s.byDefault
		}
	}
	o.Batch = min(o.Batch, (o.FrameBytes-kindSize)/idSize)
	if o.Format.Limits.MaxSize == 0 {
		o.Format.Limits.MaxSize = message.DefaultMaxSize
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Rand == nil {
		o.Rand = rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// terms returns what this side states for a session over a range.
func (o Options) terms(from, to int64) terms {
	return terms{
		version: version, hash: o.Format.Hash.String(), from: from, to: to,
		frame: o.FrameBytes, message: o.Format.Limits.MaxSize, batch: o.Batch, rounds: o.Rounds,
	}
}
