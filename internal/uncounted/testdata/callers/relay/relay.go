// Package relay counts some of what it has another package do.
package relay

import (
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/internal/uncounted/testdata/callers/codec"
)

var site = counters.NewSite("relay.site")

// A Relay counts.
type Relay struct{ counts counters.Set }

// Handle reaches what it calls through a function that does not count.
func (r *Relay) Handle(data []byte) {
	r.decode(data)
	if counters.Enabled {
		counters.Decode(r.counts, site, len(data))
	}
}

func (r *Relay) decode(data []byte) {
	_, _ = codec.Counted(data)
	_ = codec.Half(data)
}

// Peek does not count.
func (r *Relay) Peek(data []byte) {
	_ = codec.Half(data) // want `decode not counted: codec.Half in \(\*Relay\).Peek: count`
	r.never(data)
}

func (r *Relay) never(data []byte) { _ = codec.Never(data) }
