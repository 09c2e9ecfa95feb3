// Package traffic counts in each form that the proof must be able to remove.
package traffic

import (
	"errors"
	"hash/maphash"
	"strings"

	"github.com/msgpath/msgpath/counters"
)

var siteReceive = counters.NewSite("traffic.receive")

var (
	siteSend  = counters.NewSite("traffic.send")
	limit     = len("a limit that stays")
	siteStore = counters.NewSite("traffic.store")
)

var errEmpty = errors.New("traffic: nothing\nto receive")

// receive shares a site's name: neither its symbol nor its type may be taken
// for one.
type receive struct {
	counts counters.Set
	site   counters.Site
	seed   maphash.Seed
	seen   int
}

// Message is stored as an interface value, so that its type is described.
type Message struct {
	counts counters.Set
	data   []byte
	sum    uint64
}

// A Store is called with a site.
type Store interface {
	Put(m *Message, site counters.Site) error
}

// New returns a receiver.
func New(counts counters.Set) *receive {
	return &receive{counts: counts, site: siteReceive, seed: maphash.MakeSeed()}
}

// Receive counts a decode, and a copy in a block of its own.
func (r *receive) Receive(data []byte) (*Message, error) {
	if len(data) == 0 {
		return nil, errEmpty
	}
	r.seen++
	n := len(data)
	if counters.Enabled {
		counters.Decode(r.counts, r.site, n)
	}
	if counters.Enabled && r.seen > limit {
		if counters.Enabled {
			counters.Copy(r.counts, siteReceive, strings.Count(string(data), "x"))
		}
	}
	m := &Message{counts: r.counts, data: data}
	m.hash(r.seed, siteReceive)
	return m, nil
}

func (m *Message) hash(seed maphash.Seed, site counters.Site) {
	m.sum = maphash.Bytes(seed, m.data)
	if counters.Enabled {
		counters.Hash(m.counts, site, len(m.data))
	}
}

// Counts returns the set, so that a method mentions the type.
func (m *Message) Counts() counters.Set { return m.counts }

// Send passes a site through an interface, a function value and a variable.
func (m *Message) Send(to []Store, note func(site counters.Site, n int)) error {
	site := siteSend
	note(site, len(m.data))
	for _, s := range to {
		if err := s.Put(
			m,
			site,
		); err != nil {
			return err
		}
		if counters.Enabled {
			counters.Encode(m.counts, site, len(m.data))
		}
	}
	if !counters.Enabled {
		m.sum++
	}
	return nil
}

// Shelf is a Store.
type Shelf struct {
	Total uint64
}

// Put implements Store.
func (s *Shelf) Put(m *Message, site counters.Site) error {
	if m.sum == 0 {
		return errEmpty
	}
	s.Total += m.sum
	if counters.Enabled {
		counters.Copy(m.counts, siteStore, int(m.sum))
	}
	return nil
}
