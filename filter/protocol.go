package filter

import (
	"errors"
	"fmt"
	"slices"

	"github.com/libp2p/go-libp2p/core/protocol"

	"github.com/msgpath/msgpath/counters"
)

// Protocols of RFC 12/WAKU2-FILTER.
const (
	SubscribeProtocol protocol.ID = "/vac/waku/filter-subscribe/2.0.0-beta1"
	PushProtocol      protocol.ID = "/vac/waku/filter-push/2.0.0-beta1"
)

// Limits of the protocol.
const (
	MaxContentTopics = 100     // content topics of one request, as go-waku and nwaku have it
	MaxTopicBytes    = 256     // bytes of a topic: /waku/2/rs/65535/65535 has 22, a content topic named by 64 bytes in hex about 150
	maxRequest       = 1 << 16 // bytes of a request, and of an answer to one
)

// Where messages are worked on.
var (
	siteFilter = counters.NewSite("filter.filter")
	sitePush   = counters.NewSite("filter.filter_push")
	siteClient = counters.NewSite("filter.client")
)

// Status codes of an answer, which have the meaning of HTTP's.
const (
	StatusOK          = 200
	StatusBadRequest  = 400 // the request is malformed, or lacks something
	StatusNotFound    = 404 // the peer has no such subscription
	StatusUnavailable = 503 // the server holds as many subscriptions as it will
)

// StatusError is the answer of a server that did not do what it was asked.
type StatusError struct {
	Code uint32
	Desc string // in the server's words
}

func (e *StatusError) Error() string { return fmt.Sprintf("status %d: %q", e.Code, e.Desc) }

// pair is what one subscription is to: a message matches that is on the pubsub
// topic and has the content topic. Neither is ever derived from the other.
type pair struct{ pubsub, content string }

// checkCriteria says what is wrong with the criteria of a request.
func checkCriteria(pubsub string, content []string) error {
	switch {
	case pubsub == "":
		return errors.New("pubsub topic is empty")
	case len(content) == 0:
		return errors.New("no content topic")
	case len(content) > MaxContentTopics:
		return fmt.Errorf("%d content topics, at most %d in one request", len(content), MaxContentTopics)
	case slices.Contains(content, ""):
		return errors.New("a content topic is empty")
	case len(pubsub) > MaxTopicBytes:
		return fmt.Errorf("pubsub topic of %d bytes, at most %d", len(pubsub), MaxTopicBytes)
	}
	for _, c := range content {
		if len(c) > MaxTopicBytes {
			return fmt.Errorf("content topic of %d bytes, at most %d", len(c), MaxTopicBytes)
		}
	}
	return nil
}

// pairs returns a pair for each content topic.
func pairs(pubsub string, content []string) []pair {
	all := make([]pair, len(content))
	for i, c := range content {
		all[i] = pair{pubsub, c}
	}
	return all
}
