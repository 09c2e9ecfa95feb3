package relay

import (
	"context"
	"errors"
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

// BenchmarkInject takes one received message of 50 kB through validator, handler
// and dispatch, with two consumers that ask for the hash, at each reach. In the
// counting build it reports decodes and hashes too.
func BenchmarkInject(b *testing.B) {
	for _, reach := range reaches {
		b.Run("path="+reach.String(), func(b *testing.B) {
			counts := counters.New()
			o := Options{Counts: counts, Reach: reach, Topics: []string{topicA}, Stages: []Stage{storesync}}
			store := new(forgetful)
			o.Store = store.store
			r := run(b, o)
			store.relay = r
			data := encode(b, sample(0, 50_000))
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			before := counters.Total(counters.Load(counts))
			for b.Loop() {
				if err := r.Inject(b.Context(), received(topicA, data)); err != nil {
					b.Fatal(err)
				}
			}
			if counters.Enabled {
				did := counters.Total(counters.Load(counts)).Sub(before)
				b.ReportMetric(float64(did.Decodes)/float64(b.N), "decodes/msg")
				b.ReportMetric(float64(did.Hashes)/float64(b.N), "hashes/msg")
			}
		})
	}
}

// BenchmarkGossipID is what gossipsub pays for each copy in its event loop.
func BenchmarkGossipID(b *testing.B) {
	data := encode(b, sample(0, 50_000))
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if GossipID(topicA, data) == "" {
			b.Fatal("no id")
		}
	}
}

// forgetful is a store that asks for the hash and keeps nothing.
type forgetful struct{ relay *Relay }

func (f *forgetful) store(ctx context.Context, env *message.Envelope) error {
	if _, err := env.Hash(siteArchive); err != nil {
		return err
	}
	f.relay.Stored(ctx, env, nil)
	return nil
}

// run runs a Relay without a witness until the benchmark ends.
func run(b *testing.B, o Options) *Relay {
	b.Helper()
	r, err := New(newHost(b), o)
	if err != nil {
		b.Fatal(err)
	}
	done := make(chan error, 1)
	go func() { done <- r.Run(context.Background()) }()
	b.Cleanup(func() {
		if err := errors.Join(r.Close(), <-done); err != nil {
			b.Error(err)
		}
	})
	<-r.Ready()
	return r
}
