package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/msgpath/msgpath/verdict"
)

// shuttle is a target that hands what is published straight to its deliveries,
// as its fault says.
type shuttle struct {
	out      chan Delivery
	fault    func(n int, it Item) []int // indices to deliver for the n-th message
	n        int
	inFlight func(n int)
}

func newShuttle(room int, fault func(n int, it Item) []int) *shuttle {
	return &shuttle{out: make(chan Delivery, room), fault: fault}
}

func (s *shuttle) Start(context.Context) error { return nil }
func (s *shuttle) Close() error                { return nil }
func (s *shuttle) Delivered() <-chan Delivery  { return s.out }
func (s *shuttle) Publish(_ context.Context, it Item) error {
	for _, i := range s.fault(s.n, it) {
		s.out <- Delivery{Index: i, At: time.Now()}
	}
	s.n++
	if s.inFlight != nil {
		s.inFlight(len(s.out))
	}
	return nil
}

func faithful(_ int, it Item) []int { return []int{it.Index} }

func numbered(n int) []Item {
	items := make([]Item, n)
	for i := range items {
		items[i].Index = i
	}
	return items
}

func TestDriveDeliversEverythingWithinTheWindow(t *testing.T) {
	most := 0
	target := newShuttle(100, faithful)
	target.inFlight = func(n int) { most = max(most, n) }
	d := newDriver(target, 4)
	var samples []int
	d.delivered = func(n int) { samples = append(samples, n) }
	if err := d.drive(t.Context(), numbered(20)); err != nil {
		t.Fatal(err)
	}
	if len(samples) != 20 || samples[19] != 20 {
		t.Errorf("deliveries reported: %v", samples)
	}
	if most > 4 {
		t.Errorf("%d messages in flight, window 4", most)
	}
	if n := d.latencies.Count(); n != 20 {
		t.Errorf("%d latencies, want 20", n)
	}
	if n := d.arrivals.Count(); n != 20 {
		t.Errorf("%d times between arrivals, want 20", n)
	}
}

func TestDriveRefusesWhatIsNotOnceAndUnaltered(t *testing.T) {
	at := func(n int, indices ...int) func(int, Item) []int {
		return func(k int, it Item) []int {
			if k == n {
				return indices
			}
			return []int{it.Index}
		}
	}
	cases := map[string]struct {
		fault func(int, Item) []int
		want  string
	}{
		"lost":        {at(3), "first missing: 3"},
		"twice":       {at(3, 3, 3), "message 3 was delivered twice"},
		"not asked":   {at(3, 77), "message 77 was delivered and not published"},
		"from before": {at(3, 2), "message 2 was delivered twice"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			d := newDriver(newShuttle(100, c.fault), 1)
			d.stall = time.Millisecond
			err := d.drive(t.Context(), numbered(8))
			if !errors.Is(err, errInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an invalid run that says %q", err, c.want)
			}
		})
	}
}

func TestDriveEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lost := newShuttle(100, func(int, Item) []int { cancel(); return nil })
	err := newDriver(lost, 1).drive(ctx, numbered(2))
	if !errors.Is(err, context.Canceled) || errors.Is(err, errInvalid) {
		t.Errorf("got %v, want the context's error and not an invalid run", err)
	}
}

func TestCheckNodes(t *testing.T) {
	whole := verdict.Node{Name: "B", Delivered: 5}
	cases := map[string]struct {
		change func(*verdict.Node)
		want   string
	}{
		"whole":    {func(*verdict.Node) {}, ""},
		"dropped":  {func(n *verdict.Node) { n.Dropped = 1 }, "node B dropped 1"},
		"rejected": {func(n *verdict.Node) { n.Rejected = 2 }, "node B rejected 2"},
		"short":    {func(n *verdict.Node) { n.Delivered = 4 }, "node B delivered 4 of 5"},
		"more":     {func(n *verdict.Node) { n.Delivered = 6 }, "node B delivered 6 of 5"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			n := whole
			c.change(&n)
			err := checkNodes([]verdict.Node{n}, 5)
			switch {
			case c.want == "" && err != nil:
				t.Error(err)
			case c.want != "" && (!errors.Is(err, errInvalid) || !strings.Contains(err.Error(), c.want)):
				t.Errorf("got %v, want %q", err, c.want)
			}
		})
	}
}
