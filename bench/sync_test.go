package bench

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/study"
)

func TestSync(t *testing.T) {
	o := SyncOptions{Sizes: []int{1, 150, 10_000}, Runs: 2, Seed: 3}
	s, err := Sync(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	sessions, runs, sets := s.Tables[0].Rows, s.Tables[1].Rows, s.Tables[2].Rows
	if len(sessions) != 2+3+9 || len(runs) != len(sessions) || len(sets) != 3 {
		t.Fatalf("%d, %d and %d rows, want 14, 14 and 3", len(sessions), len(runs), len(sets))
	}
	for i, row := range sessions {
		if times := runs[i][7].(string); len(strings.Fields(times)) != o.Runs {
			t.Errorf("row %d tells of the runs %q", i, times)
		}
		if total := runs[i][4].(int) + runs[i][5].(int); total != row[5] {
			t.Errorf("row %d has %d bytes, and %d there and back", i, row[5], total)
		}
		if limit, ok := row[3].(int); ok && runs[i][6].(int) > limit {
			t.Errorf("row %d has a frame of %d bytes, limit %d", i, runs[i][6], limit)
		}
	}
	if got, want := sessions[0], (study.Row{1, 0, nil, nil, 1, 74}); !slices.Equal(got[:6], want) { // its id in either frame
		t.Errorf("one id, no difference: got %v, want %v", got[:6], want)
	}
	if heap := sets[2][2].(float64); heap < 40 || heap > 80 {
		t.Errorf("a key takes %.1f bytes", heap)
	}
	again, err := Sync(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for i, row := range again.Tables[0].Rows {
		if !slices.Equal(row[:7], sessions[i][:7]) {
			t.Errorf("the same again: got %v, want %v", row[:7], sessions[i][:7])
		}
	}
}

func TestSyncOptions(t *testing.T) {
	err := SyncOptions{Sizes: []int{0, 5, 5, MaxSyncSize + 1}, Runs: -1}.Validate()
	for _, want := range []string{"size 0", "size 5 is given twice", "size 10000001", "-1 runs"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
	if _, err := Sync(t.Context(), SyncOptions{Runs: -1}); err == nil {
		t.Error("Sync took options that are wrong")
	}
	if err := (SyncOptions{}).Validate(); err != nil {
		t.Error(err)
	}
}

// A difference that nobody made is found, and makes the run invalid.
func TestSyncFindsWhatIsWrong(t *testing.T) {
	s, _, err := fillStores(t.Context(), 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	d := syncDifference{where: newest, ids: 10}
	if _, err := s.measure(t.Context(), d, 1); err != nil {
		t.Fatal(err)
	}
	for side, what := range []string{"only the responder has: found 11 ids, want 10", "only the initiator has: found 1 ids, want 0"} {
		s.sets[side].Delete(s.keys[500])
		_, err = s.measure(t.Context(), d, 1)
		if !errors.Is(err, verdict.ErrInvalid) || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want it to say %q", err, what)
		}
		s, _, _ = fillStores(t.Context(), 1000, 1)
	}
}

// measure leaves both sets as they were.
func TestSyncLeavesTheSets(t *testing.T) {
	s, _, err := fillStores(t.Context(), 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range differences(1000) {
		if _, err := s.measure(t.Context(), d, 1); err != nil {
			t.Fatal(err)
		}
		for side, set := range s.sets {
			if !slices.Equal(slices.Collect(set.Keys()), s.keys) {
				t.Errorf("%v: side %d has other keys", d, side)
			}
		}
	}
}

func TestExactly(t *testing.T) {
	a, b := message.Key{Hash: message.Hash{1}}, message.Key{Hash: message.Hash{2}}
	for _, c := range []struct {
		ids  []message.Hash
		keys []message.Key
		ok   bool
	}{
		{nil, nil, true},
		{[]message.Hash{b.Hash, a.Hash}, []message.Key{a, b}, true},
		{[]message.Hash{a.Hash}, []message.Key{a, b}, false},
		{[]message.Hash{a.Hash, b.Hash}, []message.Key{a}, false},
		{[]message.Hash{b.Hash}, []message.Key{a}, false},
		{[]message.Hash{a.Hash, a.Hash}, []message.Key{a}, false},
	} {
		if err := exactly("it has", c.ids, c.keys); (err == nil) != c.ok {
			t.Errorf("%v of %v: %v", c.ids, c.keys, err)
		}
	}
}

func TestSyncInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s, _, err := fillStores(ctx, 1000, 1)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	if _, err := Sync(ctx, SyncOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("while it fills: %v", err)
	}
	if _, err := s.measure(ctx, syncDifference{where: scattered, ids: 1}, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("while it measures: %v", err)
	}
}
