package p2p

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/multiformats/go-varint"

	"github.com/msgpath/msgpath/internal/golden"
	"github.com/msgpath/msgpath/message"
)

// recorder notes what either side writes, in the order in which it is written.
type recorder struct {
	mu    sync.Mutex
	turns []turn
}

type turn struct {
	by    Side
	bytes []byte
}

func (r *recorder) write(by Side, b []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.turns); n == 0 || r.turns[n-1].by != by {
		r.turns = append(r.turns, turn{by: by})
	}
	last := &r.turns[len(r.turns)-1]
	last.bytes = append(last.bytes, b...)
}

// tapped is one end of a stream whose writes are recorded, and may be changed.
type tapped struct {
	duplexPipe
	by     Side
	rec    *recorder
	change func([]byte) []byte // nil: nothing
}

func (c tapped) Write(b []byte) (int, error) {
	out := b
	if c.change != nil {
		out = c.change(bytes.Clone(b))
	}
	c.rec.write(c.by, out)
	if _, err := c.duplexPipe.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// Of 5000 messages against none, with a limit on the frames of one side, no frame
// of either is longer, but for messages (amethyst PR#3871).
func TestFrameLimit(t *testing.T) {
	for _, empty := range []Side{Began, Answered} {
		for _, small := range []Side{Began, Answered} {
			t.Run(fmt.Sprint(empty, " empty, ", small, " limited"), func(t *testing.T) {
				shelves := [sides]*shelf{shelfOf(0, 5000), shelfOf(0, 5000)}
				shelves[empty] = newShelf()
				var o [sides]Options
				o[small].FrameBytes = MinFrameBytes
				ctx, cancel := context.WithTimeout(deadline(t), time.Hour)
				defer cancel()
				a, b := offline(t, shelves[Began], o[Began]), offline(t, shelves[Answered], o[Answered])
				began, answered, rec := converse(ctx, a, b, nil, Began)
				if began.err != nil || answered.err != nil {
					t.Fatal(began.err, answered.err)
				}
				same(t, shelves[Began], shelves[Answered])
				longest := 0
				rec.frames(t, func(_ Side, k kind, body []byte) {
					if k != kindMessage {
						longest = max(longest, kindSize+len(body))
					}
				})
				if longest > MinFrameBytes || longest < 1000 {
					t.Errorf("the longest frame has %d bytes, limit %d", longest, MinFrameBytes)
				}
			})
		}
	}
}

// ending is what one side of a session ended with.
type ending struct {
	Report
	err error
}

// converse runs a session between two Syncers over a stream in memory. What one
// side writes is changed.
func converse(ctx context.Context, a, b *Syncer, change func([]byte) []byte, changed Side) (began, answered ending, rec *recorder) {
	rec = new(recorder)
	near, far := pipe()
	ends := [sides]tapped{{near, Began, rec, nil}, {far, Answered, rec, nil}}
	ends[changed].change = change
	sa, sb := &session{Syncer: a, peer: "b"}, &session{Syncer: b, peer: "a"}
	var talking sync.WaitGroup
	talking.Go(func() { began.err = sa.talk(ctx, ends[Began], Began); near.Close() })
	talking.Go(func() { answered.err = sb.talk(ctx, ends[Answered], Answered); far.Close() })
	talking.Wait()
	a.conclude(sa, Began, began.err)
	b.conclude(sb, Answered, answered.err)
	began.Report, answered.Report = sa.report, sb.report
	return began, answered, rec
}

// Whole sessions as text: each frame, and what came of it.
func TestTrace(t *testing.T) {
	refusing := shelfOf(0, 0)
	refusing.accept = func(*message.Envelope) (bool, error) { return false, ErrRefused }
	for _, c := range []struct {
		name   string
		a, b   *shelf
		oa, ob Options
	}{
		{"both_ways", shelfOf(0, 4), shelfOf(2, 7), Options{}, Options{}},
		{"equal", shelfOf(0, 40), shelfOf(0, 40), Options{}, Options{}},
		{"batches", shelfOf(0, 5), shelfOf(5, 10), Options{Batch: 2}, Options{}},
		{"enough", shelfOf(0, 6), shelfOf(6, 12), Options{ServeMessages: 3}, Options{ServeMessages: 4, Ask: 2}},
		{"refused", shelfOf(0, 2), refusing, Options{}, Options{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // whose clock always begins at the same time
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				a, b := offline(t, c.a, c.oa), offline(t, c.b, c.ob)
				began, answered, rec := converse(ctx, a, b, nil, Began)
				out := rec.text(t)
				fmt.Fprintf(out, "began:    %s\nanswered: %s\n", began, answered)
				golden.Equal(t, "testdata/"+c.name+".trace", out.Bytes())
			})
		})
	}
}

func (r ending) String() string {
	return fmt.Sprintf("%v, rounds %d, have %d, need %d, received %d, refused %d, absent %d, served %d, more %v, bytes in %d, out %d",
		outcome(r.Report, r.err), r.Rounds, r.Have, r.Need, r.Received, r.Refused, r.Absent, r.Served, r.More, r.BytesIn, r.BytesOut)
}

func (r *recorder) text(t *testing.T) *bytes.Buffer {
	t.Helper()
	out := new(bytes.Buffer)
	r.frames(t, func(by Side, k kind, body []byte) {
		fmt.Fprintf(out, "%-8v %4d bytes  %v %s\n", by, kindSize+len(body), k, bodyText(k, body))
	})
	return out
}

// frames takes what was written apart.
func (r *recorder) frames(t *testing.T, each func(Side, kind, []byte)) {
	t.Helper()
	for _, turn := range r.turns {
		for rest := turn.bytes; len(rest) > 0; {
			n, size, err := varint.FromUvarint(rest)
			if err != nil || n == 0 || int(n) > len(rest)-size {
				t.Fatalf("%v wrote no frame: %x", turn.by, rest)
			}
			each(turn.by, kind(rest[size]), rest[size+kindSize:size+int(n)])
			rest = rest[size+int(n):]
		}
	}
}

func bodyText(k kind, body []byte) string {
	switch k {
	case kindHello:
		terms, err := parseTerms(body)
		return fmt.Sprintf("%+v%s", terms, errText(err))
	case kindWant, kindOffer:
		ids, err := parseIDs(body, len(body))
		text := fmt.Sprintf("%d ids", len(ids))
		for _, id := range ids {
			text += fmt.Sprintf(" %x", id[:3])
		}
		return fmt.Sprint(text, errText(err))
	case kindMessage:
		topic, data, err := parseMessage(body)
		return fmt.Sprintf("%s, %d bytes%s", topic, len(data), errText(err))
	case kindAbsent:
		return [...]string{"not here", "too large", "later"}[body[0]]
	case kindDecline:
		return fmt.Sprintf("%q", body)
	}
	return fmt.Sprintf("%d bytes", len(body))
}

func errText(err error) string {
	if err == nil {
		return ""
	}
	return ": " + err.Error()
}
