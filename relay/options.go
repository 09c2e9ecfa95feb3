package relay

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"time"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

// A Stage consumes one message. An error is counted and logged and does not
// keep later stages from running. What it is given is shared and read-only. It
// may run at once for messages of different topics. Its context ends when Run
// has returned.
type Stage func(context.Context, *message.Envelope) error

// A Validator decides on one message before it is delivered and forwarded. An
// error rejects it; an error that wraps [ErrIgnore] ignores it, which does not
// blame the peer that sent it. Several may run at once, on different messages or
// on copies of one. Its context ends when the topic is left.
type Validator func(context.Context, *message.Envelope) error

// ErrIgnore is wrapped by a Validator's error to ignore a message rather than
// reject it.
var ErrIgnore = errors.New("message ignored")

// IDontWantOff is the IDontWantThreshold that no message reaches.
const IDontWantOff = math.MaxInt32

// An Inline says whether validation runs in the goroutines that take messages from
// ValidateQueue, or in one more goroutine for each message. In the former,
// validators that take their time fill the queue, which drops what it cannot hold.
type Inline int

const (
	InlineAuto   Inline = iota // on topics without validators: to decode takes no time
	InlineAlways               // on every topic: for validators that are quick
	InlineNever
)

// minIDontWant returns the size of what the largest mesh is told of one message,
// in bytes.
func minIDontWant() int { return pubsub.GossipSubDhi * digestedID }

// DefaultSubscription is how many messages wait for a topic's handler, if
// Options.Subscription does not say.
const DefaultSubscription = 1024

// Options say what a Relay does. The zero value is a relay on no topic, of
// reach ReachStage, with the defaults given below.
type Options struct {
	Counts counters.Set // the node's counters; the zero Set counts nothing

	Reach  Reach
	Hash   message.Algorithm
	Limits message.Limits

	Topics     []string    // joined by Run
	Validators []Validator // run in order on every topic, before those of Join
	Observers  []Observer  // told of traffic, in gossipsub's event loop: must not block

	// Store is handed each accepted message and later reports its outcome by
	// calling Stored. Nil: nothing is stored and the stages run at once.
	Store Stage
	// Restore is handed what Receive accepts, in place of Store: such a message may
	// be older than any that Store would take. It calls Stored too. Nil: Store.
	Restore Stage
	Stages  []Stage // run in order on each message once it is stored

	// AllowNoPeers lets Publish succeed with nobody in the topic's mesh.
	AllowNoPeers bool

	// IDontWantThreshold is the size in bytes from which on a message, as soon as
	// it arrives, makes the node tell its other mesh peers not to send it again;
	// 0: 1024. IDontWantOff tells them of none. A threshold that the telling of a
	// whole mesh outweighs is refused: small messages would make a node send more
	// than it received.
	IDontWantThreshold int

	ValidateInline Inline // where messages are decoded and validated

	OutboundQueue   int // RPCs queued for each peer; 0: 1024
	ValidateQueue   int // messages queued for validation; 0: 1024
	ValidateWorkers int // goroutines that take from ValidateQueue; 0: one for each CPU

	Validations  int           // validations at once on all topics, but for those inline; 0: 8192
	Subscription int           // messages queued for each topic's handler; 0: DefaultSubscription
	SeenTTL      time.Duration // how long after its last copy a message is known; 0: 2 minutes
	MaxRPCSize   int           // bytes; 0: 1 MiB
	RouterLogger *slog.Logger  // of gossipsub itself; nil: discarded
	Logger       *slog.Logger  // nil: discarded
}

func (o Options) withDefaults() Options {
	set := func(v *int, d int) {
		if *v == 0 {
			*v = d
		}
	}
	set(&o.OutboundQueue, 1024)
	set(&o.ValidateQueue, 1024)
	set(&o.ValidateWorkers, runtime.NumCPU())
	set(&o.IDontWantThreshold, pubsub.GossipSubIDontWantMessageThreshold)
	set(&o.Validations, 8192)
	set(&o.Subscription, DefaultSubscription)
	set(&o.MaxRPCSize, 1<<20)
	if o.SeenTTL == 0 {
		o.SeenTTL = 2 * time.Minute
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.RouterLogger == nil {
		o.RouterLogger = slog.New(slog.DiscardHandler)
	}
	return o
}

// rpcOverhead is room for what surrounds one message in an RPC, topic included.
const rpcOverhead = 1024

// Validate reports everything wrong with o.
func (o Options) Validate() error {
	errs := []error{message.Format{Hash: o.Hash, Limits: o.Limits}.Validate()}
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("relay: options: "+format, args...)) }
	if o.Reach > ReachNode {
		bad("Reach %d is unknown", uint8(o.Reach))
	}
	if o.SeenTTL < 0 {
		bad("SeenTTL %v is negative", o.SeenTTL)
	}
	o.checkBounds(bad)
	o.checkTopics(bad)
	o.checkConsumers(bad)
	return errors.Join(errs...)
}

func (o Options) checkBounds(bad func(string, ...any)) {
	for _, b := range []struct {
		name  string
		value int
	}{
		{"OutboundQueue", o.OutboundQueue},
		{"ValidateQueue", o.ValidateQueue},
		{"ValidateWorkers", o.ValidateWorkers},
		{"Validations", o.Validations},
		{"Subscription", o.Subscription},
		{"MaxRPCSize", o.MaxRPCSize},
	} {
		if b.value < 0 {
			bad("%s %d is negative", b.name, b.value)
		}
	}
	if t, least := o.withDefaults().IDontWantThreshold, minIDontWant(); t < least {
		bad("IDontWantThreshold %d is less than a full mesh is told of one message: want %d or more", t, least)
	}
	size := cmp.Or(o.Limits.MaxSize, message.DefaultMaxSize)
	if rpc := o.withDefaults().MaxRPCSize; rpc >= 0 && rpc < size+rpcOverhead {
		bad("MaxRPCSize %d holds no message of %d bytes, the largest allowed: want %d", rpc, size, size+rpcOverhead)
	}
}

func (o Options) checkTopics(bad func(string, ...any)) {
	for i, t := range o.Topics {
		if err := checkTopic(t); err != nil {
			bad("Topics[%d] %q: %w", i, t, err)
		}
		if slices.Contains(o.Topics[:i], t) {
			bad("Topics[%d] %q: named twice", i, t)
		}
	}
}

func (o Options) checkConsumers(bad func(string, ...any)) {
	if o.ValidateInline < InlineAuto || o.ValidateInline > InlineNever {
		bad("ValidateInline %d is none of InlineAuto, InlineAlways, InlineNever", o.ValidateInline)
	}
	for i, v := range o.Validators {
		if v == nil {
			bad("Validators[%d] is nil", i)
		}
	}
	for i, v := range o.Observers {
		if v == nil {
			bad("Observers[%d] is nil", i)
		}
	}
	for i, s := range o.Stages {
		if s == nil {
			bad("Stages[%d] is nil", i)
		}
	}
}
