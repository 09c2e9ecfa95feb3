package archivetest

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/message"
)

// over returns an archive over b, which stays open for Exercise to close.
func over(t testing.TB, b archive.Backend, o archive.Options) *archive.Archive {
	t.Helper()
	o.Logger = slog.New(slog.DiscardHandler)
	a, err := archive.New(b, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// numberedRows returns rows of numbers from <= i < to, at timestamps i.
func numberedRows(from, to int) (rows []archive.Row) {
	for i := from; i < to; i++ {
		rows = append(rows, Numbered(uint64(i), int64(i), 8))
	}
	return rows
}

// collect returns the keys of all pages of q, in ascending order, and the number of
// pages. It fails on a page that is not ascending or too long.
func collect(t rapid.TB, a *archive.Archive, q archive.Query) (keys []message.Key, pages int) {
	for p, err := range a.Pages(context.Background(), q) {
		if err != nil {
			t.Fatalf("page %d of %+v: %v", pages+1, q, err)
		}
		pages++
		page := keysOf(p.Rows)
		if !slices.IsSortedFunc(page, message.Key.Compare) || len(page) > archive.MaxPage || q.Limit > 0 && len(page) > q.Limit {
			t.Fatalf("page %d of %+v: %d keys, ascending: %v", pages, q, len(page), slices.IsSortedFunc(page, message.Key.Compare))
		}
		if q.Forward {
			keys = append(keys, page...)
		} else {
			keys = append(page, keys...)
		}
	}
	return keys, pages
}

// exercisePages compares the union of the pages of random queries, in both
// directions, with the definition.
func exercisePages(t *testing.T, b archive.Backend) {
	a := over(t, b, archive.Options{})
	rapid.Check(t, func(rt *rapid.T) {
		empty(t, rt, b)
		var m model
		fill(t, rt, b, &m, 25)
		for range 4 {
			q := archive.Query{
				Forward: rapid.Bool().Draw(rt, "forward"), Data: rapid.Bool().Draw(rt, "data"),
				Limit: rapid.IntRange(0, 9).Draw(rt, "limit"),
				Start: rapid.Ptr(rapid.Int64Range(-4, 5), true).Draw(rt, "start"), End: rapid.Ptr(rapid.Int64Range(5, 13), true).Draw(rt, "end"),
			}
			if rapid.Bool().Draw(rt, "topics") {
				q.Topic = rapid.SampledFrom(fewTopics).Draw(rt, "topic")
				q.ContentTopics = rapid.SliceOfNDistinct(rapid.SampledFrom(fewContentTopics), 1, 3, rapid.ID).Draw(rt, "contentTopics")
			}
			want := m.selected(archive.Selection{Topic: q.Topic, ContentTopics: q.ContentTopics, Limit: len(m)})
			want = slices.DeleteFunc(want, func(k message.Key) bool {
				return q.Start != nil && k.Timestamp < *q.Start || q.End != nil && k.Timestamp >= *q.End
			})
			if got, _ := collect(rt, a, q); !slices.Equal(got, want) {
				rt.Fatalf("query %+v: got %v, want %v", q, got, want)
			}
		}
	})
}

// exercisePagination has the pagination cases of nwaku's archive, from
// tests/waku_archive/test_driver_queue_pagination.nim of logos-messaging/logos-delivery,
// for both directions, and nwaku#471: one message, and fewer than a page.
func exercisePagination(t *testing.T, b archive.Backend) {
	a := over(t, b, archive.Options{})
	stored := 0
	for _, c := range []struct {
		items, cursor int // cursor -1: none
		limit         int
		first, n      int // forward
	}{
		{0, -1, 2, 0, 0},
		{1, -1, 10, 0, 1},
		{1, 0, 10, 0, 0},
		{3, -1, 10, 0, 3},
		{10, 3, 2, 4, 2},
		{10, -1, 2, 0, 2},
		{10, -1, 13, 0, 10},
		{10, 3, 10, 4, 6},
		{10, 9, 10, 0, 0},
		{10, 3, archive.MaxPage + 1, 4, 6},
		{250, -1, archive.MaxPage + 1, 0, archive.MaxPage},
		{250, -1, 0, 0, archive.DefaultPage},
	} {
		mustInsert(t, b, numberedRows(stored, c.items)...)
		stored = c.items
		all := numberedRows(0, c.items)
		for _, forward := range []bool{true, false} {
			q := archive.Query{Forward: forward, Limit: c.limit}
			want := keysOf(all[c.first : c.first+c.n])
			at := c.cursor
			if !forward { // the same, seen from the other end
				want = keysOf(all[c.items-c.first-c.n : c.items-c.first])
				at = c.items - 1 - c.cursor
			}
			if c.cursor >= 0 {
				q.Cursor = all[at].Key.Hash[:]
			}
			p, err := a.Query(t.Context(), q)
			if err != nil || !slices.Equal(keysOf(p.Rows), want) {
				t.Fatalf("%d items, %+v: got %v, error %v, want %v", c.items, q, keysOf(p.Rows), err, want)
			}
			more := c.n > 0 && c.first+c.n < c.items
			if (p.Cursor != nil) != more {
				t.Fatalf("%d items, %+v: cursor %x, more rows: %v", c.items, q, p.Cursor, more)
			}
		}
	}
}

// exerciseBackwardPages: the second page back has the message next to the first
// (nwaku#1371), and 20 by 5 are 4 pages without repeats (nwaku#1502).
func exerciseBackwardPages(t *testing.T, b archive.Backend) {
	rows := numberedRows(0, 20)
	mustInsert(t, b, rows...)
	a := over(t, b, archive.Options{})
	for _, limit := range []int{10, 5} {
		var pages [][]message.Key
		for p, err := range a.Pages(t.Context(), archive.Query{Limit: limit}) {
			if err != nil {
				t.Fatal(err)
			}
			pages = append(pages, keysOf(p.Rows))
		}
		for i, page := range pages {
			if want := keysOf(rows[20-(i+1)*limit : 20-i*limit]); !slices.Equal(page, want) {
				t.Errorf("page %d back by %d: got %v, want %v", i+1, limit, page, want)
			}
		}
		if len(pages) != 20/limit {
			t.Errorf("got %d pages back by %d", len(pages), limit)
		}
	}
}

// exerciseTimeRangePages pages through a range of times by a cursor, 510 messages
// (nwaku#2745), between messages at its ends: start is in it, end is not.
func exerciseTimeRangePages(t *testing.T, b archive.Backend) {
	const n, start, end = 510, 1717038870472334766, 1717038999574854537
	var want, rows []archive.Row
	for i := range n {
		want = append(want, Numbered(uint64(i), start+int64(i)*((end-start-1)/(n-1)), 8))
	}
	rows = append(slices.Clone(want), Numbered(n, start-1, 8), Numbered(n+1, end, 8))
	mustInsert(t, b, rows...)
	a := over(t, b, archive.Options{})
	from, to := int64(start), int64(end)
	for _, limit := range []int{100, 10} {
		for _, forward := range []bool{true, false} {
			got, pages := collect(t, a, archive.Query{Start: &from, End: &to, Limit: limit, Forward: forward})
			if !slices.Equal(got, keysOf(want)) || pages != (n+limit-1)/limit {
				t.Errorf("limit %d, forward %v: %d keys in %d pages, want %d", limit, forward, len(got), pages, n)
			}
		}
	}
}

// exerciseEqualTimestamps pages through 500 messages of one time to the nanosecond
// (leapmux#287).
func exerciseEqualTimestamps(t *testing.T, b archive.Backend) {
	var rows []archive.Row
	for i := range 500 {
		rows = append(rows, Numbered(uint64(i), 1700000000123456789, 8))
	}
	mustInsert(t, b, rows...)
	want := slices.SortedFunc(slices.Values(keysOf(rows)), message.Key.Compare)
	a := over(t, b, archive.Options{})
	for _, forward := range []bool{true, false} {
		if got, _ := collect(t, a, archive.Query{Limit: 7, Forward: forward}); !slices.Equal(got, want) {
			t.Errorf("forward %v: %d keys, want %d in order of their hashes", forward, len(got), len(want))
		}
	}
}

// exerciseInsertsBetweenPages inserts on both sides of the cursor between two pages
// (OpenWA#1479): rows seen are not repeated, those behind the cursor are seen, and
// those before it are not.
func exerciseInsertsBetweenPages(t *testing.T, b archive.Backend) {
	a := over(t, b, archive.Options{})
	rows := numberedRows(0, 40)
	mustInsert(t, b, rows[10:20]...)
	for _, forward := range []bool{true, false} {
		p, err := a.Query(t.Context(), archive.Query{Limit: 5, Forward: forward})
		if err != nil {
			t.Fatal(err)
		}
		seen := keysOf(p.Rows)
		mustInsert(t, b, slices.Concat(rows[:10], rows[20:])...)
		late, _ := collect(t, a, archive.Query{Cursor: p.Cursor, Forward: forward})
		want := keysOf(rows[:15])
		if forward {
			want = keysOf(rows[15:])
		}
		if !slices.Equal(late, want) || slices.ContainsFunc(late, func(k message.Key) bool { return slices.Contains(seen, k) }) {
			t.Errorf("forward %v: got %v after %v, want %v", forward, late, seen, want)
		}
		if err := b.Delete(t.Context(), keysOf(slices.Concat(rows[:10], rows[20:]))); err != nil {
			t.Fatal(err)
		}
	}
}

func exerciseQueryErrors(t *testing.T, b archive.Backend) {
	row := Numbered(1, 1, 8)
	mustInsert(t, b, row)
	a := over(t, b, archive.Options{})
	low, high := int64(1), int64(2)
	_, err := a.Query(t.Context(), archive.Query{Cursor: make([]byte, 32)})
	requireIs(t, "unknown cursor", err, archive.ErrCursor)
	for want, q := range map[string]archive.Query{
		"cursor of 31 bytes":         {Cursor: make([]byte, 31)},
		"cursor of 0 bytes":          {Cursor: []byte{}},
		"0 content topics":           {Topic: "t"},
		"pubsub topic \"\" and 1":    {ContentTopics: []string{"c"}},
		"content topic is empty":     {Topic: "t", ContentTopics: []string{""}},
		"11 content topics":          {Topic: "t", ContentTopics: strings.Split("abcdefghijk", "")},
		"1 hashes and topics":        {Topic: "t", ContentTopics: []string{"c"}, Hashes: []message.Hash{{}}},
		"101 hashes":                 {Hashes: make([]message.Hash, 101)},
		"start 2 is after end 1":     {Start: &high, End: &low},
		"limit -1 is negative":       {Limit: -1},
		"limit -2 is negative":       {Limit: -2, Cursor: []byte{1}}, // and all else that is wrong
		"cursor of 1 bytes: want 32": {Limit: -2, Cursor: []byte{1}},
	} {
		if _, err := a.Query(t.Context(), q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: got error %v, want it to say %q", q, err, want)
		}
	}
	p, err := a.Query(t.Context(), archive.Query{Hashes: []message.Hash{row.Key.Hash, {1}}, Data: true, Start: &high, End: &high})
	if err != nil || len(p.Rows) != 0 {
		t.Errorf("an empty range: got %v, %v", p, err)
	}
	p, err = a.Query(t.Context(), archive.Query{Hashes: []message.Hash{row.Key.Hash, {1}}, Data: true})
	if err != nil || len(p.Rows) != 1 {
		t.Fatalf("by hash: got %v, %v", p, err)
	}
	requireSame(t, p.Rows[0], row)
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = a.Query(t.Context(), archive.Query{})
	if !errors.Is(err, archive.ErrClosed) {
		t.Errorf("closed: got error %v", err)
	}
}
