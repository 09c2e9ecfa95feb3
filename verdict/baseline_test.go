package verdict

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"testing"
)

func TestWriteBaseline(t *testing.T) {
	equal(t, "baseline.md", goodContext(t).BaselineDoc)
}

func TestBaselineIsVerbatim(t *testing.T) {
	doc := string(goodContext(t).BaselineDoc)
	csv := written(t, func(b *bytes.Buffer) error { return WriteCSV(b, fixture()) })
	human := written(t, func(b *bytes.Buffer) error { return WriteText(b, fixture()) })
	for _, block := range []string{"```csv\n" + string(csv) + "```\n", "```\n" + string(human) + "```\n"} {
		if !strings.Contains(doc, block) {
			t.Errorf("the document lacks the block\n%s", block)
		}
	}
}

// No figure of a run is typed in the template: another result changes them all.
func TestBaselineFollowsTheResult(t *testing.T) {
	r := fixture()
	r.Settings.Messages, r.Settings.PayloadBytes, r.Settings.Seed = 500, 7_000, 43
	r.Environment.Commit = "fedcba9876543210"
	for i := range r.Runs {
		r.Runs[i].Messages, r.Runs[i].Published, r.Runs[i].WallNanos = 500, 500, 77_000_000
		for n := range r.Runs[i].Nodes {
			r.Runs[i].Nodes[n].Delivered = 500
		}
	}
	doc := string(written(t, func(b *bytes.Buffer) error { return WriteBaseline(b, r, Context{}) }))
	for _, old := range []string{"1206.9", "0123456789abcdef", "1000 messages", "seed 42", "65000.000"} {
		if strings.Contains(doc, old) {
			t.Errorf("the document still has %q", old)
		}
	}
	for _, want := range []string{
		"500 messages", "seed 43", "fedcba9876543210", "14.000 per message", "are not set side by side",
		"**no**", "| 4 |", "**FAIL**",
	} {
		if !strings.Contains(doc, want) {
			t.Errorf("the document lacks %q", want)
		}
	}
}

// The document is not compared with itself, whatever the caller has of it.
func TestBaselineDoesNotJudgeItself(t *testing.T) {
	const want = "| **N/A** | this is the document; its counts are this run's |"
	for _, c := range []Context{{}, goodContext(t), {BaselineDoc: []byte("another"), BaselineCommitted: true}} {
		doc := string(written(t, func(b *bytes.Buffer) error { return WriteBaseline(b, fixture(), c) }))
		if !strings.Contains(doc, want) {
			t.Errorf("the document lacks %q", want)
		}
	}
}

func TestBaselineIsReadBack(t *testing.T) {
	r := fixture()
	doc := goodContext(t).BaselineDoc
	if err := readBack(r, doc); err != nil {
		t.Error(err)
	}
	wantError(t, readBack(r, bytes.Replace(doc, []byte(",6.000,5.000,"), []byte(",6.000,4.000,"), 1)), "row 7: hashes_per_msg is 5.000")
	r.Runs = r.Runs[1:]
	wantError(t, readBack(r, doc), "it has 30 rows, want 29")
	r.Settings.Profile = "1kB@100\n```"
	wantError(t, WriteBaseline(new(bytes.Buffer), r, Context{}), "verdict: write baseline: read the document back")
}

func TestBaselineSaysHowToReproduce(t *testing.T) {
	const build = "go build -tags msgpathcounters -o bin/msgpath ./cmd/msgpath\n"
	for _, tt := range []struct {
		commit  string
		command []string
		want    []string
	}{
		{"0123abc", []string{"/somewhere/msgpath", "bench", "all"}, []string{
			"In a checkout of commit `0123abc`:\n\n```\nmake baseline\n```", build + "bin/msgpath bench all\n",
		}},
		{"0123abc+dirty", []string{"msgpath", "bench", "macro", "--out", "it's here"}, []string{
			"had changes that are not in its commit `0123abc+dirty`", build + `bin/msgpath bench macro --out 'it'\''s here'` + "\n",
		}},
		{"unknown", nil, []string{"did not record its commit", build + "bin/msgpath\n"}},
	} {
		r := fixture()
		r.Environment.Commit, r.Environment.CommandLine = tt.commit, tt.command
		doc := string(written(t, func(b *bytes.Buffer) error { return WriteBaseline(b, r, Context{}) }))
		_, reproduce, _ := strings.Cut(doc, "## Reproduce")
		for _, want := range tt.want {
			if !strings.Contains(reproduce, want) {
				t.Errorf("commit %s: lacks %q:\n%s", tt.commit, want, reproduce)
			}
		}
	}
}

func TestBaselineBreakdownAddsUp(t *testing.T) {
	for _, d := range (baseline{Result: fixture()}).Breakdowns() {
		var sum, nodes uint64
		for _, line := range d.Lines {
			switch {
			case !line.Sum:
				sum += line.DecodedBytes + line.HashedBytes + line.IDHashedBytes + line.EncodedBytes + line.CopiedBytes
			case line.Node != "all":
				nodes += line.DecodedBytes + line.HashedBytes + line.IDHashedBytes + line.EncodedBytes + line.CopiedBytes
			default:
				last := line.DecodedBytes + line.HashedBytes + line.IDHashedBytes + line.EncodedBytes + line.CopiedBytes
				if sum != last || d.Scenario == Macro && nodes != last || last == 0 {
					t.Errorf("%s, path %s: sites %d, nodes %d, last line %d", d.Scenario, d.Path, sum, nodes, last)
				}
			}
		}
		if want := d.Path != "theirs"; d.Counted != want || d.Counted != (len(d.Lines) > 0) {
			t.Errorf("%s, path %s: counted %t with %d lines", d.Scenario, d.Path, d.Counted, len(d.Lines))
		}
	}
}

func TestBaselineSaysThatCountsVary(t *testing.T) {
	r := fixture()
	find(t, &r, "macro_run2", "zerocopy").Nodes[0].Sites[1].Encodes++
	doc := string(written(t, func(b *bytes.Buffer) error { return WriteBaseline(b, r, Context{}) }))
	if n := strings.Count(doc, "**The counts differ between the 2 runs.**"); n != 1 {
		t.Errorf("says so %d times, want 1", n)
	}
}

func TestOverhead(t *testing.T) {
	r := fixture()
	for _, o := range (baseline{Result: r}).Overheads() {
		if math.Abs(o.Bytes-overheadBytes) > 1e-9 {
			t.Errorf("%s, path %s: overhead %v, want %d", o.Scenario, o.Path, o.Bytes, overheadBytes)
		}
	}
	if n := len((baseline{Result: r}).Overheads()); n != 6 {
		t.Errorf("%d overheads, want 6: theirs counts nothing", n)
	}
	for _, p := range append(PublishedBefore, PublishedAfter...) {
		if got := p.OverheadBytes(); math.Abs(got-55) > 3 {
			t.Errorf("published %s: overhead %v, want about 55", p.Scenario, got)
		}
	}
}

func TestBaselineRefuses(t *testing.T) {
	none := Result{Kind: Kind, SchemaVersion: SchemaVersion, Environment: Environment{Counting: true}, Verified: true}
	broken := fixture()
	broken.Kind = ""
	for name, tt := range map[string]struct {
		r    Result
		want string
	}{
		"uncounted": {uncounted(), "the result has no counts: built without the tag msgpathcounters"},
		"invalid":   {withInvalid(), "the result is not verified: 1 invalid runs"},
		"no runs":   {none, "the result has no valid run"},
		"broken":    {broken, `kind is ""`},
	} {
		t.Run(name, func(t *testing.T) {
			var buf bytes.Buffer
			wantError(t, WriteBaseline(&buf, tt.r, Context{}), "verdict: write baseline", tt.want)
			if buf.Len() > 0 {
				t.Error("wrote all the same")
			}
		})
	}
}

func TestMarkdownCell(t *testing.T) {
	if got := markdownCell("a|b\nc"); got != `a\|b c` {
		t.Errorf("markdownCell = %s", strconv.Quote(got))
	}
}
