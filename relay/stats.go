package relay

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	pubsub "github.com/libp2p/go-libp2p-pubsub"

	"github.com/msgpath/msgpath/message"
)

// Cause is why a message was rejected or dropped.
type Cause uint8

// Causes of a rejection come first, then those of a drop.
const (
	RejectDecode     Cause = iota // not a wire message
	RejectTooLarge                // encoded message over its limit
	RejectMeta                    // meta over its limit
	RejectTopic                   // no content topic, or a topic that is not UTF-8
	RejectValidator               // refused by a Validator
	RejectIgnored                 // ignored by a Validator
	RejectPolicy                  // signed or authored, or from a blacklisted peer
	DropQueue                     // gossipsub's validation queue was full
	DropThrottle                  // too many validations at once
	DropSubscription              // the topic's handler was too slow
	DropStore                     // the store failed or refused it
	DropStage                     // a stage failed
	DropLeft                      // its topic was left before it was validated, or Receive's context ended
	causes
)

var causeNames = [causes]string{
	"decode", "too_large", "meta", "topic", "validator", "ignored", "policy",
	"validation_queue", "validation_throttle", "subscription", "store", "stage", "left",
}

// String returns the cause as a metric's label.
func (c Cause) String() string {
	if c < causes {
		return causeNames[c]
	}
	return fmt.Sprintf("Cause(%d)", uint8(c))
}

// Rejects reports whether c is a cause of rejection rather than of a drop.
func (c Cause) Rejects() bool { return c < DropQueue }

// Stats is what happened to the messages of one topic since the Relay was made.
// Units are messages, or copies of messages where said so, and bytes of their
// encoding.
type Stats struct {
	Topic string
	Mesh  int // peers in the topic's mesh now

	Received, ReceivedBytes uint64 // copies that came in
	Duplicates              uint64 // copies of a message known already
	Sent, SentBytes         uint64 // copies handed to peers' outbound queues
	Written                 uint64 // copies of Sent written to peers' streams; the rest is queued, or lost with its peer
	SendDropped             uint64 // copies that a full outbound queue dropped, or that had no queue

	Recovered, RecoveredBytes uint64 // handed to Receive

	Published, PublishedBytes uint64 // accepted by Publish
	PublishDuplicates         uint64 // Publish answered ErrDuplicate
	PublishNoPeers            uint64 // Publish answered ErrNoPeers
	PublishRefused            uint64 // Publish answered another error

	Delivered uint64         // passed every stage
	Known     uint64         // accepted, and found in the store: not delivered again
	Causes    [causes]uint64 // rejected or dropped, by Cause
}

// Rejected returns the number of messages rejected, of all causes.
func (s Stats) Rejected() uint64 { return s.sum(true) }

// Dropped returns the number of messages dropped on their way to the last
// stage, of all causes. It does not include SendDropped.
func (s Stats) Dropped() uint64 { return s.sum(false) }

func (s Stats) sum(rejects bool) (n uint64) {
	for c, v := range s.Causes {
		if Cause(c).Rejects() == rejects {
			n += v
		}
	}
	return n
}

type tallies struct {
	received, receivedBytes, duplicates, sent, sentBytes, written, sendDropped   atomic.Uint64
	recovered, recoveredBytes                                                    atomic.Uint64
	published, publishedBytes, publishDuplicates, publishNoPeers, publishRefused atomic.Uint64
	delivered, known                                                             atomic.Uint64
	causes                                                                       [causes]atomic.Uint64
}

func (t *tallies) add(c Cause) { t.causes[c].Add(1) }

func (t *tallies) load(topic string) Stats {
	s := Stats{
		Topic:    topic,
		Received: t.received.Load(), ReceivedBytes: t.receivedBytes.Load(), Duplicates: t.duplicates.Load(),
		Sent: t.sent.Load(), SentBytes: t.sentBytes.Load(), SendDropped: t.sendDropped.Load(),
		Written:   t.written.Load(),
		Recovered: t.recovered.Load(), RecoveredBytes: t.recoveredBytes.Load(),
		Published: t.published.Load(), PublishedBytes: t.publishedBytes.Load(),
		PublishDuplicates: t.publishDuplicates.Load(), PublishNoPeers: t.publishNoPeers.Load(),
		PublishRefused: t.publishRefused.Load(),
		Delivered:      t.delivered.Load(), Known: t.known.Load(),
	}
	for c := range t.causes {
		s.Causes[c] = t.causes[c].Load()
	}
	return s
}

// tallied returns the counts of a topic that was ever joined, nil of another.
func (r *Relay) tallied(name string) *tallies {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.tallies[name]
}

// tally returns the counts of a topic, which are kept when it is left.
func (r *Relay) tally(name string) *tallies {
	if t := r.tallied(name); t != nil {
		return t
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.tallies[name] == nil {
		r.tallies[name] = new(tallies)
	}
	return r.tallies[name]
}

// Stats returns the counts of each topic joined so far, by name.
func (r *Relay) Stats() []Stats {
	r.mu.RLock()
	defer r.mu.RUnlock()
	all := make([]Stats, 0, len(r.tallies))
	for name, t := range r.tallies {
		s := t.load(name)
		if j := r.topics[name]; j != nil {
			s.Mesh = j.mesh.size()
		}
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b Stats) int { return strings.Compare(a.Topic, b.Topic) })
	return all
}

// Foreign returns the number of copies received on topics that were not joined,
// which gossipsub ignores.
func (r *Relay) Foreign() uint64 { return r.foreign.Load() }

// rejection returns the cause of a validation error.
func rejection(err error) Cause {
	switch {
	case errors.Is(err, message.ErrTooLarge):
		return RejectTooLarge
	case errors.Is(err, message.ErrMetaTooLong):
		return RejectMeta
	case errors.Is(err, message.ErrNoContentTopic), errors.Is(err, message.ErrInvalidTopic):
		return RejectTopic
	}
	return RejectDecode
}

// rejectedEarly maps the reasons for which gossipsub rejects a message before
// or instead of calling the topic's validator.
var rejectedEarly = map[string]Cause{
	pubsub.RejectValidationQueueFull: DropQueue,
	pubsub.RejectValidationThrottled: DropThrottle,
	pubsub.RejectBlacklstedPeer:      RejectPolicy,
	pubsub.RejectBlacklistedSource:   RejectPolicy,
	pubsub.RejectMissingSignature:    RejectPolicy,
	pubsub.RejectUnexpectedSignature: RejectPolicy,
	pubsub.RejectUnexpectedAuthInfo:  RejectPolicy,
	pubsub.RejectInvalidSignature:    RejectPolicy,
	pubsub.RejectSelfOrigin:          RejectPolicy,
}
