package echo

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/msgpath/msgpath/counters"

	"example.org/echo-relay/pb"
)

// running returns a node that runs until the test ends, when Run must have
// returned nil.
func running(t *testing.T, c Config) *Node {
	t.Helper()
	c.Listen = "/ip4/127.0.0.1/tcp/0"
	n, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- n.Run(t.Context()) }()
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Errorf("Run returns %v, want nil", err)
		}
	})
	return n
}

// take returns what comes next.
func take[T any](ctx context.Context, t *testing.T, what string, from <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-from:
	case <-ctx.Done():
		t.Fatalf("no %s", what)
	}
	return v
}

// TestRunGoesOn: a node whose every echo is refused, because its key does not
// sign what it says, goes on to take notes.
func TestRunGoesOn(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	broken := slices.Clone(key)
	broken[len(broken)-1]++ // in the public half
	delivered, failed := make(chan string, 2), make(chan error, 2)
	a := running(t, Config{Counts: counters.New(), Key: key})
	b := running(t, Config{
		Counts: counters.New(), Key: broken, Echo: true,
		Deliver: func(n *pb.Note) { delivered <- string(n.Body) },
		Fail:    func(err error) { failed <- err },
	})
	if err := a.Connect(ctx, b.Address()); err != nil {
		t.Fatal(err)
	}
	if err := a.Joined(ctx); err != nil {
		t.Fatal(err)
	}
	for i, body := range []string{"first", "second"} {
		if err := a.Publish(ctx, []byte(body)); err != nil {
			t.Fatal(err)
		}
		if got := take(ctx, t, "note", delivered); got != body {
			t.Errorf("delivered %q, want %q", got, body)
		}
		if err := take(ctx, t, "failure", failed); err == nil {
			t.Error("a failure without an error")
		}
		if n := b.Failed(); n != uint64(i+1) {
			t.Errorf("%d failed, want %d", n, i+1)
		}
	}
}
