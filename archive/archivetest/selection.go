package archivetest

import (
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// Few values of each field, so that selections by them find some rows.
var (
	fewTopics        = []string{Topic, "/waku/2/rs/0/1"}
	fewContentTopics = []string{"/a/1/x/proto", "/a/1/y/proto", "/b/1/\x00/\U0001f511"}
)

// drawFew draws a row that others are like. n makes it another message.
func drawFew(t *rapid.T, n int) archive.Row {
	return NewRow(rapid.SampledFrom(fewTopics).Draw(t, "topic"), &pb.WakuMessage{
		Payload:      []byte{byte(n), byte(n >> 8)},
		ContentTopic: rapid.SampledFrom(fewContentTopics).Draw(t, "contentTopic"),
		Timestamp:    rapid.Ptr(rapid.Int64Range(-3, 12), true).Draw(t, "timestamp"),
		Meta:         drawBytes(t, "meta", 4), RateLimitProof: drawBytes(t, "proof", 4),
	})
}

// A model is what a backend must hold, in ascending order.
type model []archive.Row

func (m *model) insert(rows ...archive.Row) {
	*m = append(*m, rows...)
	slices.SortFunc(*m, func(a, b archive.Row) int { return a.Key.Compare(b.Key) })
}

func (m *model) delete(keys []message.Key) {
	*m = slices.DeleteFunc(*m, func(r archive.Row) bool { return slices.Contains(keys, r.Key) })
}

// selected returns the keys that s selects, by its definition.
func (m model) selected(s archive.Selection) (keys []message.Key) {
	for _, r := range m {
		if (s.After == nil || r.Key.Compare(*s.After) > 0) && (s.Before == nil || r.Key.Compare(*s.Before) < 0) &&
			(len(s.Hashes) == 0 || slices.Contains(s.Hashes, r.Key.Hash)) && (s.Topic == "" || r.Topic == s.Topic) &&
			(len(s.ContentTopics) == 0 || slices.Contains(s.ContentTopics, r.Message.GetContentTopic())) {
			keys = append(keys, r.Key)
		}
	}
	if s.Descending {
		slices.Reverse(keys)
	}
	return keys[:min(len(keys), s.Limit)]
}

// next returns a number that is in no payload of m, nor any above it.
func (m model) next() (n int) {
	for _, r := range m {
		n = max(n, 1+int(r.Message.Payload[0])+int(r.Message.Payload[1])<<8)
	}
	return n
}

func (m model) row(k message.Key) archive.Row {
	return m[slices.IndexFunc(m, func(r archive.Row) bool { return r.Key == k })]
}

func (m model) size() (size archive.Size) {
	for _, r := range m {
		size.Messages++
		size.Bytes += archive.SizeOf(r.Topic, r.Message)
	}
	return size
}

// fill inserts up to limit rows that are like each other.
func fill(t *testing.T, rt *rapid.T, b archive.Backend, m *model, limit int) {
	var rows []archive.Row
	next := m.next()
	for i := range rapid.IntRange(0, limit).Draw(rt, "rows") {
		r := drawFew(rt, next+i)
		if r.Message.Timestamp == nil {
			r.Message.Timestamp = proto.Int64(int64(len(rows) % 3)) // what has none is in other tests
			r = NewRow(r.Topic, r.Message)
		}
		rows = append(rows, r)
	}
	if _, err := b.Insert(t.Context(), rows); err != nil {
		rt.Fatalf("insert: %v", err)
	}
	m.insert(rows...)
}

// empty deletes what b holds, so that each check of a property begins without rows.
func empty(t *testing.T, rt *rapid.T, b archive.Backend) {
	if err := b.Delete(t.Context(), mustKeys(t, b)); err != nil {
		rt.Fatalf("delete: %v", err)
	}
	requireSize(t, rt, b, nil)
}

func requireSize(t *testing.T, rt rapid.TB, b archive.Backend, m model) {
	size, err := b.Size(t.Context())
	if err != nil || size != m.size() {
		rt.Fatalf("got size %+v, error %v, want %+v", size, err, m.size())
	}
}

// exerciseSelect selects by each combination of fields, and compares with the
// definition.
func exerciseSelect(t *testing.T, b archive.Backend) {
	rapid.Check(t, func(rt *rapid.T) {
		empty(t, rt, b)
		var m model
		fill(t, rt, b, &m, 20)
		requireSize(t, rt, b, m)
		for range 8 {
			s := drawSelection(rt, m)
			got, err := b.Select(t.Context(), s)
			if err != nil {
				rt.Fatalf("select %+v: %v", s, err)
			}
			if want := m.selected(s); !slices.Equal(keysOf(got), want) {
				rt.Fatalf("select %+v: got %v, want %v", s, keysOf(got), want)
			}
			for _, r := range got {
				requireShown(rt, s, r, m.row(r.Key))
			}
		}
	})
}

func requireShown(rt *rapid.T, s archive.Selection, got, want archive.Row) {
	if s.Sizes != (got.Size != 0) || s.Sizes && got.Size != archive.SizeOf(want.Topic, want.Message) {
		rt.Fatalf("sizes %v: got size %d of a row of %d", s.Sizes, got.Size, archive.SizeOf(want.Topic, want.Message))
	}
	if s.Data {
		requireSame(rt, got, want)
	} else if got.Message != nil || got.Topic != "" {
		rt.Fatalf("got %v on %q without data", got.Message, got.Topic)
	}
}

func drawSelection(rt *rapid.T, m model) archive.Selection {
	flip := func(label string) bool { return rapid.Bool().Draw(rt, label) }
	s := archive.Selection{
		Descending: flip("descending"), Data: flip("data"), Sizes: flip("sizes"),
		Limit: rapid.IntRange(1, 25).Draw(rt, "limit"),
	}
	bound := func(label string) *message.Key {
		if len(m) == 0 || !flip(label) {
			return nil
		}
		k := rapid.SampledFrom(m).Draw(rt, label+" key").Key
		return &k
	}
	s.After, s.Before = bound("after"), bound("before")
	if flip("topics") {
		s.Topic = rapid.SampledFrom(fewTopics).Draw(rt, "topic")
		s.ContentTopics = rapid.SliceOfNDistinct(rapid.SampledFrom(fewContentTopics), 0, 2, rapid.ID).Draw(rt, "contentTopics")
	}
	if len(m) > 0 && flip("hashes") {
		for range rapid.IntRange(1, 5).Draw(rt, "hashes") {
			s.Hashes = append(s.Hashes, rapid.SampledFrom(m).Draw(rt, "hash").Key.Hash)
		}
		s.Hashes = append(s.Hashes, message.Hash{1})
	}
	return s
}

// exerciseDelete deletes, stores again and compares with a model. A key of another
// timestamp is another key.
func exerciseDelete(t *testing.T, b archive.Backend) {
	rapid.Check(t, func(rt *rapid.T) {
		empty(t, rt, b)
		var m model
		for range 4 {
			fill(t, rt, b, &m, 10)
			var gone []message.Key
			for _, r := range m {
				if rapid.Bool().Draw(rt, "delete") {
					gone = append(gone, r.Key)
				}
			}
			shifted := message.Key{Timestamp: 1 << 40}
			if len(m) > 0 {
				shifted.Hash = m[0].Key.Hash
			}
			if err := b.Delete(t.Context(), slices.Concat(gone, []message.Key{shifted}, gone)); err != nil {
				rt.Fatalf("delete: %v", err)
			}
			m.delete(gone)
			requireSize(t, rt, b, m)
			if got := mustKeys(t, b); !slices.Equal(got, keysOf(m)) {
				rt.Fatalf("got keys %v, want %v", got, keysOf(m))
			}
		}
	})
	row := Numbered(1, 1, 5000)
	for range 3 {
		if fresh := mustInsert(t, b, row); !fresh[0] {
			t.Fatal("a deleted row is still known")
		}
		requireSame(t, mustGet(t, b, row.Key.Hash), row)
		if err := b.Delete(t.Context(), []message.Key{row.Key}); err != nil {
			t.Fatal(err)
		}
	}
}
