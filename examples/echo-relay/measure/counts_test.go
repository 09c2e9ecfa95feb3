package measure_test

import (
	"context"
	"testing"
	"time"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/counters/counterstest"

	"example.org/echo-relay/measure"
)

const notes, body = 20, 500

// Wanted counts of one note and its echo, times the number of notes.
var (
	publish = counters.Counts{Hashes: notes, HashedBytes: notes * body, Encodes: notes}
	checked = counters.Counts{Decodes: 2 * notes, Hashes: 2 * notes} // the node's own note and the other's
	again   = counters.Counts{Decodes: notes, Hashes: notes}
	ids     = counters.Counts{IDHashes: 2 * notes}
	reply   = counters.Counts{Copies: notes, CopiedBytes: notes * body}
)

// TestCounts drives two nodes over loopback and fails at any other count than
// these. A build without the tag msgpathcounters relays and then skips.
func TestCounts(t *testing.T) {
	for _, tt := range []struct {
		name  string
		reuse bool
		a, b  map[string]counters.Counts
	}{
		{
			"twice", false,
			map[string]counters.Counts{"echo.publish": publish, "echo.validator": checked, "echo.handler": again, "echo.message_id": ids},
			map[string]counters.Counts{"echo.publish": publish, "echo.validator": checked, "echo.handler": again, "echo.message_id": ids, "echo.reply": reply},
		},
		{
			"once", true,
			map[string]counters.Counts{"echo.publish": publish, "echo.validator": checked, "echo.message_id": ids},
			map[string]counters.Counts{"echo.publish": publish, "echo.validator": checked, "echo.message_id": ids, "echo.reply": reply},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pair := relayed(t, tt.reuse)
			counterstest.Exact(t, pair.A, tt.a)
			counterstest.Exact(t, pair.B, tt.b)
		})
	}
}

// relayed returns a pair through which all notes went and that is closed again.
func relayed(t *testing.T, reuse bool) *measure.Pair {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	load := measure.Load{Notes: notes, Body: body, Window: 4}
	pair := measure.NewPair(reuse, load.Window)
	defer func() {
		if err := pair.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := pair.Start(ctx); err != nil {
		t.Fatal(err)
	}
	if _, err := measure.Drive(ctx, pair, load); err != nil {
		t.Fatal(err)
	}
	return pair
}
