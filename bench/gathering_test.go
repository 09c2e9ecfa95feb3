package bench

import (
	"testing"
	"time"
)

// A message on its way is reported once, when the receiver and all others have it,
// in whatever order it arrives, with the time of the last.
func TestGatheringReportsWhenAllHaveIt(t *testing.T) {
	at, committed := time.Unix(1, 0), time.Unix(2, 0)
	received := func(g *gathering) error { return g.receive(Delivery{Index: 1, At: at, Committed: committed}) }
	first := func(g *gathering) error { return g.arrive(0, 1) }
	second := func(g *gathering) error { return g.arrive(1, 1) }
	for name, order := range map[string][]func(*gathering) error{
		"receiver first": {received, first, second},
		"receiver last":  {second, first, received},
		"between":        {first, received, second},
	} {
		g := newGathering(2, 2)
		for i, arrive := range order {
			if err := arrive(g); err != nil {
				t.Fatal(err)
			}
			if got, want := len(g.delivered), i/2; got != want {
				t.Errorf("%s: %d reports after %d arrivals", name, got, i+1)
			}
		}
		if d := <-g.delivered; d.Index != 1 || d.Committed != committed || d.At.Equal(at) != (name == "receiver last") {
			t.Errorf("%s: %+v", name, d)
		}
		for _, again := range order {
			if err := again(g); err != nil {
				t.Fatal(err)
			}
			if len(g.delivered) != 1 || (<-g.delivered).Index != 1 {
				t.Errorf("%s: what comes again is not reported", name)
			}
		}
		if g.receive(Delivery{Index: 2}) == nil || g.arrive(0, -1) == nil {
			t.Error("a message that was not published has no error")
		}
	}
}

// Nobody is held up by messages that come again and again.
func TestGatheringHoldsUpNobody(t *testing.T) {
	g := newGathering(1, 0)
	for range 10 {
		if err := g.receive(Delivery{}); err != nil {
			t.Fatal(err)
		}
	}
	if len(g.delivered) != 2 {
		t.Errorf("%d reports, want that of the message and one more", len(g.delivered))
	}
}
