package bench

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

// shuttle is a target that hands what is published straight to its deliveries,
// as its fault says.
type shuttle struct {
	out      chan Delivery
	fault    func(i int) []int // numbers to deliver for message i
	inFlight func(n int)
	lost     []string
}

func newShuttle(fault func(i int) []int) *shuttle {
	return &shuttle{out: make(chan Delivery, 100), fault: fault, inFlight: func(int) {}}
}

func (s *shuttle) Start(context.Context, []*pb.WakuMessage) error { return nil }
func (s *shuttle) Close() error                                   { return nil }
func (s *shuttle) Delivered() <-chan Delivery                     { return s.out }
func (s *shuttle) Nodes(context.Context) ([]verdict.Node, error)  { return nil, nil }
func (s *shuttle) Losses() []string                               { return s.lost }
func (s *shuttle) Publish(_ context.Context, i int) error {
	for _, n := range s.fault(i) {
		s.out <- Delivery{Index: n, At: time.Now(), Committed: time.Now()}
	}
	s.inFlight(len(s.out))
	return nil
}

func faithful(i int) []int { return []int{i} }

func TestDriveDeliversEverythingWithinTheWindow(t *testing.T) {
	most := 0
	target := newShuttle(faithful)
	target.inFlight = func(n int) { most = max(most, n) }
	d := newDriver(target, 20, 4)
	var told []int
	d.delivered = func(n int) { told = append(told, n) }
	if err := d.drive(t.Context(), 0, 20); err != nil {
		t.Fatal(err)
	}
	if len(told) != 20 || told[19] != 20 {
		t.Errorf("deliveries reported: %v", told)
	}
	if most != 4 {
		t.Errorf("%d messages in flight, window 4", most)
	}
	for name, l := range map[string]*Latencies{"whole": d.whole, "arrivals": d.arrivals, "latencies": d.latencies} {
		if l.Count() != 20 {
			t.Errorf("%s: %d times, want 20", name, l.Count())
		}
	}
}

func TestDriveRefusesWhatIsNotOnceAndUnaltered(t *testing.T) {
	third := func(numbers ...int) func(int) []int {
		return func(i int) []int {
			if i == 3 {
				return numbers
			}
			return []int{i}
		}
	}
	cases := map[string]struct {
		fault func(int) []int
		lost  []string
		want  string
	}{
		"lost":           {third(), nil, "after 3 of 8 deliveries"},
		"lost, and why":  {third(), []string{"node B: 1 lost, cause store"}, "first missing: 3; node B: 1 lost, cause store"},
		"twice":          {third(3, 3), nil, "message 3 was delivered twice"},
		"not asked for":  {third(77), nil, "message 77 was delivered and not published"},
		"not yet":        {third(7), nil, "message 7 was delivered and not published"},
		"negative":       {third(-1), nil, "message -1 was delivered and not published"},
		"one of earlier": {third(2), nil, "message 2 was delivered twice"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			target := newShuttle(c.fault)
			target.lost = c.lost
			d := newDriver(target, 8, 1)
			d.stall = time.Millisecond
			err := d.drive(t.Context(), 0, 8)
			if !errors.Is(err, errInvalid) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want an invalid run that says %q", err, c.want)
			}
		})
	}
}

func TestDriveEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	lost := newShuttle(func(int) []int { cancel(); return nil })
	err := newDriver(lost, 2, 1).drive(ctx, 0, 2)
	if !errors.Is(err, context.Canceled) || errors.Is(err, errInvalid) {
		t.Errorf("got %v, want the context's error and not an invalid run", err)
	}
}

func TestFinishRefusesWhatComesLate(t *testing.T) {
	target := newShuttle(faithful)
	var run verdict.Run
	if err := finish(t.Context(), target, nil, &run); err != nil {
		t.Fatal(err)
	}
	target.out <- Delivery{Index: 5}
	err := finish(t.Context(), target, nil, &run)
	if !errors.Is(err, errInvalid) || !strings.Contains(err.Error(), "message 5 was delivered again") {
		t.Errorf("got %v", err)
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
