package archivetest

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// Exercise runs what an archive.Backend promises as subtests of t. open returns
// an empty backend each time; Exercise closes it.
func Exercise(t *testing.T, open func(t *testing.T) archive.Backend) {
	for _, c := range []struct {
		name string
		run  func(*testing.T, archive.Backend)
	}{
		{"Empty", exerciseEmpty},
		{"RoundTrip", exerciseRoundTrip},
		{"AbsentAndEmpty", exerciseAbsentAndEmpty},
		{"UnknownFields", exerciseUnknownFields},
		{"Duplicates", exerciseDuplicates},
		{"Order", exerciseOrder},
		{"ManyKeys", exerciseManyKeys},
		{"LoopBody", exerciseLoopBody},
		{"LargestMessage", exerciseLargest},
		{"Select", exerciseSelect},
		{"Delete", exerciseDelete},
		{"Pages", exercisePages},
		{"Pagination", exercisePagination},
		{"BackwardPages", exerciseBackwardPages},
		{"TimeRangePages", exerciseTimeRangePages},
		{"EqualTimestamps", exerciseEqualTimestamps},
		{"InsertsBetweenPages", exerciseInsertsBetweenPages},
		{"QueryErrors", exerciseQueryErrors},
		{"RetentionCount", exerciseRetentionCount},
		{"RetentionModel", exerciseRetentionModel},
		{"RetentionBesideInserts", exerciseRetentionBesideInserts},
		{"CancelledInsert", exerciseCancelledInsert},
		{"CancelledReads", exerciseCancelledReads},
		{"Concurrent", exerciseConcurrent},
		{"Closed", exerciseClosed},
		{"CloseBesideUse", exerciseCloseBesideUse},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := open(t)
			defer func() {
				if err := b.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			}()
			c.run(t, b)
		})
	}
}

func mustInsert(t testing.TB, b archive.Backend, rows ...archive.Row) []bool {
	t.Helper()
	fresh, err := b.Insert(t.Context(), rows)
	if err != nil {
		t.Fatalf("insert: %v", err)
	}
	if len(fresh) != len(rows) {
		t.Fatalf("got %d answers for %d rows", len(fresh), len(rows))
	}
	return fresh
}

func mustGet(t rapid.TB, b archive.Backend, h message.Hash) archive.Row {
	t.Helper()
	row, err := archive.Get(context.Background(), b, h)
	if err != nil {
		t.Fatalf("get: %v", err)
	}
	return row
}

func mustKeys(t testing.TB, b archive.Backend) (keys []message.Key) {
	t.Helper()
	for k, err := range archive.Keys(t.Context(), b) {
		if err != nil {
			t.Fatalf("keys: %v", err)
		}
		keys = append(keys, k)
	}
	return keys
}

func requireKeys(t testing.TB, b archive.Backend, want []message.Key) {
	t.Helper()
	want = slices.SortedFunc(slices.Values(want), message.Key.Compare)
	if got := mustKeys(t, b); !slices.Equal(got, want) {
		t.Fatalf("got %d keys, want %d:\n%v\nwant\n%v", len(got), len(want), got, want)
	}
}

func keysOf(rows []archive.Row) (keys []message.Key) {
	for _, r := range rows {
		keys = append(keys, r.Key)
	}
	return keys
}

func exerciseEmpty(t *testing.T, b archive.Backend) {
	mustInsert(t, b)
	requireKeys(t, b, nil)
	if _, err := archive.Get(t.Context(), b, message.Hash{1}); !errors.Is(err, archive.ErrNotFound) {
		t.Fatalf("get of an unknown hash: %v, want %v", err, archive.ErrNotFound)
	}
}

func exerciseRoundTrip(t *testing.T, b archive.Backend) {
	seen := make(map[message.Hash]bool)
	rapid.Check(t, func(rt *rapid.T) {
		row := drawRow(rt)
		fresh, err := b.Insert(t.Context(), []archive.Row{row})
		if err != nil {
			rt.Fatalf("insert: %v", err)
		}
		if fresh[0] == seen[row.Key.Hash] {
			rt.Fatalf("fresh = %v for a hash seen before: %v", fresh[0], seen[row.Key.Hash])
		}
		if fresh[0] { // else the first row with this hash stays, other proof and all
			requireSame(rt, mustGet(rt, b, row.Key.Hash), row)
		}
		seen[row.Key.Hash] = true
	})
}

// exerciseAbsentAndEmpty stores each combination of absent, default and set
// fields once, under hashes made different by the payload.
func exerciseAbsentAndEmpty(t *testing.T, b archive.Backend) {
	bytesCases := [][]byte{nil, {}, {0}}
	var rows []archive.Row
	for i := range 3 * 3 * 3 * 3 * 3 {
		pick := func(n int) int { return i / n % 3 }
		rows = append(rows, NewRow(Topic, &pb.WakuMessage{
			Payload: []byte{byte(i)}, ContentTopic: "/a/1/\x00/\U0001f511",
			Meta: bytesCases[pick(1)], RateLimitProof: bytesCases[pick(3)],
			Version:   []*uint32{nil, proto.Uint32(0), proto.Uint32(math.MaxUint32)}[pick(9)],
			Timestamp: []*int64{nil, proto.Int64(0), proto.Int64(7)}[pick(27)],
			Ephemeral: []*bool{nil, proto.Bool(false), proto.Bool(true)}[pick(81)],
		}))
	}
	for _, payload := range bytesCases[:2] {
		rows = append(rows, NewRow(string(rune('a'+len(rows)%2)), &pb.WakuMessage{ContentTopic: "t", Payload: payload}))
	}
	mustInsert(t, b, rows...)
	for _, row := range rows {
		requireSame(t, mustGet(t, b, row.Key.Hash), row)
	}
}

func exerciseUnknownFields(t *testing.T, b archive.Backend) {
	row := Numbered(1, 1, 8)
	want := NewRow(row.Topic, proto.CloneOf(row.Message))
	row.Message.ProtoReflect().SetUnknown([]byte{0xaa, 0x06, 0x02, 0xab, 0xcd}) // field 101
	mustInsert(t, b, row)
	requireSame(t, mustGet(t, b, row.Key.Hash), want)
	if len(row.Message.ProtoReflect().GetUnknown()) == 0 {
		t.Fatal("insert changed the message it was given")
	}
}

func exerciseDuplicates(t *testing.T, b archive.Backend) {
	a, c, d := Numbered(1, 10, 8), Numbered(2, 5, 8), Numbered(3, 10, 8)
	forged := archive.Row{Key: a.Key, Topic: a.Topic, Message: proto.CloneOf(a.Message)}
	forged.Message.RateLimitProof = []byte("another proof, outside the hash")
	if got := mustInsert(t, b, a, forged, c, a); !slices.Equal(got, []bool{true, false, true, false}) {
		t.Fatalf("within a batch: fresh = %v", got)
	}
	if got := mustInsert(t, b, c, d, forged); !slices.Equal(got, []bool{false, true, false}) {
		t.Fatalf("across batches: fresh = %v", got)
	}
	requireKeys(t, b, keysOf([]archive.Row{a, c, d}))
	requireSame(t, mustGet(t, b, a.Key.Hash), a) // the first stays
}

func exerciseOrder(t *testing.T, b archive.Backend) {
	var rows []archive.Row
	for i, stamp := range []int64{
		7, math.MaxInt64, 0, -1, math.MinInt64, 1, math.MinInt64 + 1, math.MaxInt64 - 1, 1 << 53, 1<<53 + 1,
	} {
		for j := range 8 { // equal timestamps are ordered by hash
			rows = append(rows, Numbered(uint64(8*i+j), stamp, 8))
		}
	}
	rows = append(rows, NewRow(Topic, &pb.WakuMessage{ContentTopic: "t"})) // no timestamp: with 0
	mustInsert(t, b, rows...)
	requireKeys(t, b, keysOf(rows))
}

// exerciseManyKeys lists more keys than a backend would read at once, many of
// them at one timestamp, and stops early.
func exerciseManyKeys(t *testing.T, b archive.Backend) {
	var rows []archive.Row
	for i := range uint64(2100) {
		rows = append(rows, Numbered(i, int64(i)/700, 8))
	}
	mustInsert(t, b, rows...)
	requireKeys(t, b, keysOf(rows))
	left := 3
	for _, err := range archive.Keys(t.Context(), b) {
		if left--; err != nil || left == 0 {
			break
		}
	}
	if left != 0 {
		t.Fatalf("the loop ended %d keys early", left)
	}
	mustInsert(t, b, Numbered(9999, 0, 8)) // nothing is left locked
}

// exerciseLoopBody inserts and reads in the body of a loop over the keys.
func exerciseLoopBody(t *testing.T, b archive.Backend) {
	first, late := Numbered(1, 1, 8), Numbered(2, -5, 8)
	mustInsert(t, b, first)
	var seen []message.Key
	for k, err := range archive.Keys(t.Context(), b) {
		if err != nil {
			t.Fatal(err)
		}
		seen = append(seen, k)
		mustInsert(t, b, late)
		requireSame(t, mustGet(t, b, late.Key.Hash), late)
	}
	if !slices.Equal(seen, []message.Key{first.Key}) {
		t.Fatalf("got %v, want the one key there was", seen)
	}
}

func exerciseLargest(t *testing.T, b archive.Backend) {
	rows := []archive.Row{Numbered(1, 1, message.DefaultMaxSize), Numbered(2, 2, 8)}
	for i := range rows[0].Message.Payload[8:] {
		rows[0].Message.Payload[8+i] = byte(i * 7)
	}
	rows[0] = NewRow(Topic, rows[0].Message)
	mustInsert(t, b, rows...)
	for _, row := range rows {
		requireSame(t, mustGet(t, b, row.Key.Hash), row)
	}
}

func exerciseClosed(t *testing.T, b archive.Backend) {
	row := Numbered(1, 1, 8)
	mustInsert(t, b, row)
	for range 2 {
		if err := b.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
	_, err := b.Insert(t.Context(), []archive.Row{Numbered(2, 2, 8)})
	requireIs(t, "insert", err, archive.ErrClosed)
	_, err = archive.Get(t.Context(), b, row.Key.Hash)
	requireIs(t, "get", err, archive.ErrClosed)
	requireIs(t, "keys", lastError(t.Context(), b), archive.ErrClosed)
	requireIs(t, "delete", b.Delete(t.Context(), []message.Key{row.Key}), archive.ErrClosed)
	_, err = b.Size(t.Context())
	requireIs(t, "size", err, archive.ErrClosed)
}

func requireIs(t testing.TB, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got error %v, want %v", what, err, want)
	}
}

// lastError returns the error that a loop over the keys ends with.
func lastError(ctx context.Context, b archive.Backend) (last error) {
	for _, err := range archive.Keys(ctx, b) {
		last = err
	}
	return last
}
