package verdict

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/counters"
)

func TestValidateAccepts(t *testing.T) {
	empty := Result{Kind: Kind, SchemaVersion: SchemaVersion}
	quiet, lost, great := fixture(), fixture(), fixture()
	find(t, &quiet, Macro, "zerocopy").Nodes[0].Delivered = 0
	lost.Verified, lost.Runs[0].Verified, lost.Runs[0].Published, lost.Runs[0].Nodes[0].Delivered = false, false, 999, 998
	great.Runs[0].Nodes[0].Sites[0].Decodes = 1 << 53
	for name, r := range map[string]Result{
		"full": fixture(), "uncounted": uncounted(), "invalid run": withInvalid(), "no runs": empty,
		"a publisher that delivers nothing to itself": quiet, "a run that is not verified": lost, "a great count": great,
	} {
		if err := r.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestValidateRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		breaks func(*Result)
		want   string
	}{
		{"kind", func(r *Result) { r.Kind = "other" }, `kind is "other", want "msgpath-bench"`},
		{"version", func(r *Result) { r.SchemaVersion = 3 }, "schema version is 3"},
		{"load", func(r *Result) { r.Environment.Load1 = math.NaN() }, "load1 is NaN"},
		{"payload bytes", func(r *Result) { r.Settings.PayloadBytes = 0 }, "payloadBytes is 0"},
		{"meta bytes", func(r *Result) { r.Settings.MetaBytes = r.Settings.PayloadBytes + 1 }, "more than payloadBytes"},
		{"a node in some runs only", func(r *Result) {
			run := find(t, r, "macro_run2", "zerocopy")
			run.Nodes = run.Nodes[:1]
		}, "has nodes A (publisher), an earlier run of its path A (publisher), B (receiver)"},
		{"messages", func(r *Result) { r.Runs[0].Messages = 999 }, "runs[0] (micro_run1, path baseline): has 999 messages, the settings say 1000"},
		{"no messages", func(r *Result) { r.Runs[0].Messages = 0 }, "messages is 0"},
		{"wall", func(r *Result) { r.Runs[0].WallNanos = 0 }, "wallNanos is 0"},
		{"negative time", func(r *Result) { r.Runs[0].CPUNanos = -1 }, "a time is negative"},
		{"one latency", func(r *Result) { r.Runs[0].LatencyP99 = nil }, "one percentile without the other"},
		{"negative latency", func(r *Result) { r.Runs[0].LatencyP50 = ptr(int64(-1)) }, "a latency is negative"},
		{"no nodes", func(r *Result) { r.Runs[0].Nodes = nil }, "has no nodes"},
		{"no path", func(r *Result) { r.Runs[0].Path = "" }, "has no path"},
		{"run number", func(r *Result) { r.Runs[0].Number = 0 }, "run is 0"},
		{"run name", func(r *Result) { r.Runs[0].Scenario = "micro" }, `run 1 of this scenario is called "micro_run1"`},
		{"run twice", func(r *Result) { r.Runs = append(r.Runs, r.Runs[0]) }, "is there twice"},
		{"node twice", func(r *Result) { r.Runs[6].Nodes[1].Name = "A" }, `node "A": is there twice`},
		{"node name", func(r *Result) { r.Runs[6].Nodes[1].Name = "" }, "has no name"},
		{"role", func(r *Result) { r.Runs[6].Nodes[1].Role = "relay" }, `role is "relay"`},
		{"role all of two", func(r *Result) { r.Runs[6].Nodes[1].Role = RoleAll }, "is not the only node"},
		{"site twice", func(r *Result) {
			r.Runs[0].Nodes[0].Sites = append(r.Runs[0].Nodes[0].Sites, r.Runs[0].Nodes[0].Sites[0])
		}, `site "archive.archive" is there twice`},
		{"site name", func(r *Result) { r.Runs[0].Nodes[0].Sites[0].Site = "n/a" }, `a site is called "n/a"`},
		{"carriage return", func(r *Result) { r.Runs[0].Path = "a\r\nb" }, "carriage return"},
		{"counts without counting", func(r *Result) { r.Environment.Counting = false }, "has counts in a build that does not count"},
		{"invalid and valid", func(r *Result) {
			r.Invalid, r.Verified = []Invalid{{"micro_run1", "baseline", 1, "lost"}}, false
		}, "is among the valid runs too"},
		{"no reason", func(r *Result) { r.Invalid, r.Verified = []Invalid{{"micro_run9", "x", 9, ""}}, false }, "has no reason"},
		{"verified with invalid", func(r *Result) { r.Invalid = []Invalid{{"micro_run9", "x", 9, "lost"}} }, "verified is true though 1 runs are invalid"},
		{"nothing published", func(r *Result) { r.Runs[0].Published = 0 }, "runs[0] (micro_run1, path baseline): is verified though 0 of 1000 messages were published"},
		{"published more", func(r *Result) { r.Runs[0].Published++ }, "though 1001 of 1000 messages were published"},
		{"a message lost", func(r *Result) { r.Runs[6].Nodes[1].Delivered-- }, `is verified though node "B" delivered 999 of 1000 messages`},
		{"a message doubled", func(r *Result) { r.Runs[0].Nodes[0].Delivered++ }, `is verified though node "node" delivered 1001 of 1000 messages`},
		{
			"a sum that begins again at 0", func(r *Result) { r.Runs[0].Nodes[0].Sites[0].Decodes = math.MaxUint64 },
			`site "archive.archive": decodes is 18446744073709551615, want at most 9007199254740992`,
		},
		{"bytes beyond what is exact", func(r *Result) { r.Runs[0].Nodes[0].Sites[0].CopiedBytes = 1<<53 + 1 }, "copied_bytes is 9007199254740993"},
		{"verified run", func(r *Result) { r.Runs[0].Verified = false }, "is not verified though the result is"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := fixture()
			tt.breaks(&r)
			wantError(t, r.Validate(), "verdict: invalid result", tt.want)
		})
	}
}

// A CSV is held to the same as the result that it was written from.
func TestReadRefusesUnfinishedRows(t *testing.T) {
	for _, tt := range []struct {
		name, want string
		breaks     func(*Row)
	}{
		{"as written", "", func(*Row) {}},
		{"two receivers", "", func(r *Row) { r.Delivered = known(2 * messages) }},
		{"not verified", "", func(r *Row) { r.Verified, r.Delivered = ptr(false), known(1) }},
		{"not said", "", func(r *Row) { r.Published, r.Delivered = nil, nil }},
		{"nothing published", "is verified though 0 of 1000 messages were published", func(r *Row) { r.Published = known(0) }},
		{"lost", "macro, path zerocopy, role all: is verified though 999 of 1000 messages were delivered", func(r *Row) { r.Delivered = known(999) }},
		{"nothing delivered", "though 0 of 1000 messages were delivered", func(r *Row) { r.Delivered = known(0) }},
	} {
		row := newRow(fixture(), macroRun("zerocopy", 1, 1e9), RoleAll)
		tt.breaks(&row)
		switch err := row.outcome(); {
		case tt.want == "" && err != nil:
			t.Errorf("%s: %v", tt.name, err)
		case tt.want != "":
			wantError(t, err, "verdict: invalid result", tt.want)
		}
	}
	text := string(written(t, func(b *bytes.Buffer) error { return WriteCSV(b, fixture()) }))
	_, err := ReadRecord("bench.csv", strings.NewReader(strings.Replace(text, ",1000,1000,", ",1000,999,", 1)))
	if !errors.Is(err, ErrInvalid) {
		t.Errorf("error %v, want ErrInvalid", err)
	}
}

func TestValidateReportsEverything(t *testing.T) {
	r := fixture()
	r.Kind, r.Runs[0].WallNanos, r.Runs[1].Path = "x", 0, ""
	wantError(t, r.Validate(), "kind is", "wallNanos is 0", "has no path")
}

func TestRunNames(t *testing.T) {
	for _, tt := range []struct {
		scenario string
		number   int
		want     string
	}{
		{Micro, 1, "micro_run1"}, {Micro, 12, "micro_run12"}, {Macro, 1, "macro"}, {Macro, 2, "macro_run2"}, {"burst", 1, "burst"},
	} {
		got := RunName(tt.scenario, tt.number)
		if got != tt.want || Series(got) != tt.scenario {
			t.Errorf("RunName(%q, %d) = %q of series %q, want %q", tt.scenario, tt.number, got, Series(got), tt.want)
		}
	}
}

func TestCountedNodeWithoutEvents(t *testing.T) {
	r := fixture()
	find(t, &r, Macro, "theirs").Nodes[0].Sites = []counters.SiteCounts{}
	find(t, &r, Macro, "theirs").Nodes[1].Sites = []counters.SiteCounts{}
	for _, row := range Rows(r) {
		if row.Scenario == Macro && row.Path == "theirs" && (row.Decodes == nil || *row.Decodes != 0) {
			t.Errorf("role %s: decodes %v, want a known 0", row.Role, row.Decodes)
		}
	}
}
