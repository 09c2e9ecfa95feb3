package filter

import (
	"fmt"
	"log/slog"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/message"
)

// Random subscriptions and their ends, against a set of triples.
func TestTableIsASet(t *testing.T) {
	const peers, topics = 3, 6
	type entry struct {
		peer peer.ID
		pair pair
	}
	rapid.Check(t, func(t *rapid.T) {
		table := newTable(peers, topics)
		model := make(map[entry]bool)
		count := func(p peer.ID) (n int) {
			for e := range model {
				if e.peer == p {
					n++
				}
			}
			return n
		}
		draw := func(t *rapid.T) (*subscriber, []pair) {
			p := peer.ID(rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "peer"))
			content := rapid.SliceOfN(rapid.SampledFrom([]string{"1", "2", "3", "4", "5"}), 1, 5).Draw(t, "content")
			sub := table.peers[p]
			if sub == nil {
				sub = &subscriber{peer: p, pairs: make(map[pair]bool)}
			}
			return sub, pairs(rapid.SampledFrom([]string{"x", "y"}).Draw(t, "pubsub"), content)
		}
		t.Repeat(map[string]func(*rapid.T){
			"add": func(t *rapid.T) {
				sub, to := draw(t)
				after := maps.Clone(model)
				for _, p := range to {
					after[entry{sub.peer, p}] = true
				}
				known := make(map[peer.ID]bool)
				for e := range after {
					known[e.peer] = true
				}
				was := model
				model = after
				fits := len(known) <= peers && count(sub.peer) <= topics
				if err := table.room(sub, to); (err == nil) != fits {
					t.Fatalf("room: %v, want %v", err, fits)
				}
				if !fits {
					model = was
					return
				}
				table.add(sub, to)
			},
			"cut": func(t *rapid.T) {
				sub, from := draw(t)
				n := 0
				for _, p := range from {
					if model[entry{sub.peer, p}] {
						n++
						delete(model, entry{sub.peer, p})
					}
				}
				if got := table.cut(sub, from); got != n {
					t.Fatalf("cut %d, want %d", got, n)
				}
				if count(sub.peer) == 0 {
					table.remove(sub)
				}
			},
			"remove": func(t *rapid.T) {
				sub, _ := draw(t)
				if got, want := table.remove(sub), count(sub.peer) > 0; got != want {
					t.Fatalf("removed %v, want %v", got, want)
				}
				maps.DeleteFunc(model, func(e entry, _ bool) bool { return e.peer == sub.peer })
			},
			"": func(t *rapid.T) {
				n := 0
				for p, subs := range table.by {
					if len(subs) == 0 {
						t.Fatalf("an entry of nobody at %v", p)
					}
					for sub := range subs {
						n++
						if !model[entry{sub.peer, p}] || table.peers[sub.peer] != sub || !sub.pairs[p] {
							t.Fatalf("%v has %v", sub.peer, p)
						}
					}
				}
				if n != len(model) {
					t.Fatalf("%d entries, want %d", n, len(model))
				}
			},
		})
	})
}

func TestWindow(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(s int) time.Time { return start.Add(time.Duration(s) * time.Second) }
	h := func(i byte) message.Hash { return message.Hash{i} }
	w := newWindow(10*time.Second, 3)
	if !w.admit(h(1), at(0)) || w.admit(h(1), at(1)) {
		t.Error("a hash is due other than once")
	}
	if !w.take(h(1)) || w.take(h(1)) || w.take(h(2)) {
		t.Error("what is due was taken other than once")
	}
	if w.admit(h(1), at(9)) || !w.admit(h(1), at(10)) {
		t.Error("the window is not 10 s long from the first time")
	}
	for i := byte(2); i <= 4; i++ { // of which the last has no room beside the others
		if !w.admit(h(i), at(11)) {
			t.Errorf("hash %d is known", i)
		}
	}
	if w.early() != 1 || len(w.due) != 3 || !w.admit(h(1), at(12)) {
		t.Errorf("%d forgotten early, %d known, want the oldest one gone", w.early(), len(w.due))
	}
}

func TestOptions(t *testing.T) {
	bad := Options{MaxPeers: -1, MaxTopics: -2, Queue: -3, TTL: -4, Unreachable: -5, Timeout: -6, Window: -7, WindowHashes: -8}
	_, err := New(nil, bad)
	for _, want := range []string{"MaxPeers -1", "MaxTopics -2", "Queue -3", "TTL -4ns", "Unreachable -5ns", "Timeout -6ns", "Window -7ns", "WindowHashes -8", "host is nil"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell of %s", err, want)
		}
	}
	o := Options{TTL: time.Second}.withDefaults()
	o.Logger = nil
	want := Options{
		MaxPeers: 100, MaxTopics: 1000, Queue: 64, TTL: time.Second, Unreachable: time.Minute,
		Timeout: 10 * time.Second, Window: 2 * time.Minute, WindowHashes: 65536,
	}
	if o != want {
		t.Errorf("got %+v, want %+v", o, want)
	}
	client := ClientOptions{Timeout: -1}
	client.Format.Limits.MaxSize = -9
	_, err = NewClient(nil, client)
	for _, want := range []string{"Timeout -1ns", "Handle is nil", "MaxSize -9", "host is nil"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not tell of %s", err, want)
		}
	}
}

func TestNames(t *testing.T) {
	var names []fmt.Stringer
	for d := range drops {
		names = append(names, d)
	}
	for r := range refusals {
		names = append(names, r)
	}
	for r := range removals {
		names = append(names, r)
	}
	for _, n := range names {
		if strings.Contains(n.String(), "(") {
			t.Errorf("%v has no name", n)
		}
	}
	if got := drops.String(); got != "Drop(4)" {
		t.Errorf("past the last: %q", got)
	}
	if (Options{}).withDefaults().Logger == slog.Default() {
		t.Error("the log goes to the default logger")
	}
}
