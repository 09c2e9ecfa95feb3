package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/msgpath/msgpath/message"
)

// Bounds of a [Query].
const (
	DefaultPage      = 20  // rows
	MaxPage          = 100 // rows
	MaxContentTopics = 10
	MaxHashes        = 100
)

// ErrCursor is wrapped by the error for a cursor that names no stored message: it
// never did, or its message was pruned since.
var ErrCursor = errors.New("unknown cursor")

// Query asks for stored messages, by what 13/WAKU2-STORE (version 3) lets ask for.
// The zero Query is the last page of all keys.
type Query struct {
	Data bool // with messages and pubsub topics; without, keys alone

	// What to look for: either hashes, or a pubsub topic with content topics in it, or
	// neither; and messages whose timestamps are in a range.
	Topic         string
	ContentTopics []string
	Hashes        []message.Hash
	Start, End    *int64 // ns: Start is in the range, End is not; nil: no bound

	Cursor  []byte // of the page before, not in this page; nil: the first page
	Forward bool   // from the oldest on; otherwise from the newest back
	Limit   int    // most rows of a page; 0: DefaultPage; MaxPage is the most
}

// Page is one answer to a Query.
type Page struct {
	Rows   []Row  // ascending by timestamp and hash, whatever the direction
	Cursor []byte // of the next page in the query's direction; nil: there are no more rows
}

// Validate reports everything wrong with q.
func (q Query) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("archive: query: "+format, args...)) }
	if (q.Topic == "") != (len(q.ContentTopics) == 0) {
		bad("pubsub topic %q and %d content topics: want both or neither", q.Topic, len(q.ContentTopics))
	}
	if slices.Contains(q.ContentTopics, "") {
		bad("a content topic is empty")
	}
	if n := len(q.ContentTopics); n > MaxContentTopics {
		bad("%d content topics: want at most %d", n, MaxContentTopics)
	}
	if n := len(q.Hashes); n > MaxHashes {
		bad("%d hashes: want at most %d", n, MaxHashes)
	}
	if len(q.Hashes) > 0 && (q.Topic != "" || len(q.ContentTopics) > 0) {
		bad("%d hashes and topics: give one of them", len(q.Hashes))
	}
	if q.Start != nil && q.End != nil && *q.Start > *q.End {
		bad("start %d is after end %d", *q.Start, *q.End)
	}
	if q.Cursor != nil && len(q.Cursor) != len(message.Hash{}) {
		bad("cursor of %d bytes: want %d", len(q.Cursor), len(message.Hash{}))
	}
	if q.Limit < 0 {
		bad("limit %d is negative", q.Limit)
	}
	return errors.Join(errs...)
}

func (q Query) limit() int {
	if q.Limit == 0 {
		return DefaultPage
	}
	return min(q.Limit, MaxPage)
}

// Query returns one page. A row that is stored between two pages is in a later page
// if it lies behind the cursor in the query's direction, and in none if it lies
// before it; no row is in two. The error wraps ErrCursor where the cursor names no
// message.
func (a *Archive) Query(ctx context.Context, q Query) (Page, error) {
	if err := q.Validate(); err != nil {
		return Page{}, err
	}
	s, err := a.selection(ctx, q)
	if err != nil {
		return Page{}, fmt.Errorf("archive: query: %w", err)
	}
	rows, err := a.backend.Select(ctx, s)
	if err != nil {
		return Page{}, fmt.Errorf("archive: query: %w", err)
	}
	var p Page
	if limit := q.limit(); len(rows) > limit {
		p.Cursor = bytes.Clone(rows[limit-1].Key.Hash[:])
		rows = rows[:limit]
	}
	if s.Descending {
		slices.Reverse(rows)
	}
	p.Rows = rows
	return p, nil
}

// selection returns what q asks a backend for: one row more than a page has, which
// tells whether there is another.
func (a *Archive) selection(ctx context.Context, q Query) (Selection, error) {
	s := Selection{
		Hashes: q.Hashes, Topic: q.Topic, ContentTopics: q.ContentTopics,
		Descending: !q.Forward, Data: q.Data, Limit: q.limit() + 1,
	}
	s.within(q.Start, q.End)
	if q.Cursor == nil {
		return s, nil
	}
	key, ok, err := a.key(ctx, message.Hash(q.Cursor))
	if err != nil {
		return s, err
	}
	if !ok {
		return s, fmt.Errorf("%w %x", ErrCursor, q.Cursor)
	}
	switch {
	case q.Forward && (s.After == nil || key.Compare(*s.After) > 0):
		s.After = &key
	case !q.Forward && (s.Before == nil || key.Compare(*s.Before) < 0):
		s.Before = &key
	}
	return s, nil
}

// within bounds s by timestamps, start <= timestamp < end. Its own bounds are keys,
// and exclude.
func (s *Selection) within(start, end *int64) {
	if start != nil && *start > math.MinInt64 {
		s.After = &message.Key{Timestamp: *start - 1, Hash: lastHash}
	}
	if end != nil {
		s.Before = &message.Key{Timestamp: *end}
	}
}

// lastHash sorts after all others.
var lastHash = message.Hash(slices.Repeat([]byte{0xff}, len(message.Hash{})))

// Pages yields the pages of q from its cursor to the last, each asked for with the
// cursor of the one before. It ends after the first error.
func (a *Archive) Pages(ctx context.Context, q Query) iter.Seq2[Page, error] {
	return func(yield func(Page, error) bool) {
		for {
			p, err := a.Query(ctx, q)
			if !yield(p, err) || err != nil || p.Cursor == nil {
				return
			}
			q.Cursor = p.Cursor
		}
	}
}
