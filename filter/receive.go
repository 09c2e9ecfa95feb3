package filter

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

// pushOverhead is room for what a push has beside its message, topic included.
const pushOverhead = 1024

// take takes pushes from one stream until it ends. An error is of a peer from
// which nothing is wanted, or of bytes after which no push can begin.
func (c *Client) take(st network.Stream) error {
	from := st.Conn().RemotePeer()
	if !c.subscribedAt(from) {
		c.tally.strangers.Add(1)
		return fmt.Errorf("nothing is subscribed at %v", from)
	}
	limit := cmp.Or(c.opts.Format.Limits.MaxSize, message.DefaultMaxSize) + pushOverhead
	for r := bufio.NewReader(st); ; {
		topic, data, err := readPush(r, limit)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if errors.Is(err, errMalformed) {
			c.tally.malformed.Add(1)
		}
		if err != nil {
			return err
		}
		c.receive(from, topic, data)
	}
}

// readPush reads one push.
func readPush(r *bufio.Reader, limit int) (topic string, data []byte, err error) {
	b, err := readFrame(r, limit)
	if err != nil {
		return "", nil, err
	}
	topic, data, err = cutPush(b)
	if err != nil {
		return "", nil, fmt.Errorf("%w: push: %w", errMalformed, err)
	}
	return topic, data, nil
}

// receive hands on a message that was pushed, if it is one and is wanted.
func (c *Client) receive(from peer.ID, topic string, data []byte) {
	if counters.Enabled {
		defer counters.Label(c.opts.Counts, siteClient).End()
	}
	env := message.Wrap(c.opts.Counts, c.opts.Format, topic, data)
	m, err := env.Message(siteClient)
	switch {
	case err != nil:
		c.tally.invalid.Add(1)
	case !c.subscribed(from, pair{topic, m.GetContentTopic()}):
		c.tally.unwanted.Add(1)
	default:
		c.tally.delivered.Add(1)
		c.opts.Handle(from, env)
	}
}

func (c *Client) subscribedAt(p peer.ID) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return len(c.subs[p]) > 0
}

func (c *Client) subscribed(p peer.ID, to pair) bool {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.subs[p][to]
}
