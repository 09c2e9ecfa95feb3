package verdict

import (
	"strings"
	"testing"
)

func TestDocumented(t *testing.T) {
	doc := string(goodContext(t).BaselineDoc)
	for _, tt := range []struct {
		name, old, replacement string
		verdict                Verdict
		want                   string
	}{
		{"same", "", "", Pass, "30 rows equal, of 30 rows in the document"},
		{"other times", ",736.7,", ",999.9,", Pass, "30 rows equal"},
		{
			"other count", ",6.000,5.000,", ",6.000,4.000,", Fail,
			"macro, path baseline, role all: hashes_per_msg is 5.000, docs/baseline.md says 4.000",
		},
		{
			"other bytes", ",325.00,390.32,", ",325.00,390.33,", Fail,
			"macro, path baseline, role all: decoded_MB is 390.32, docs/baseline.md says 390.33",
		},
		{"uncounted", ",6.000,5.000,", ",n/a,5.000,", Fail, "decodes_per_msg is 6.000, docs/baseline.md says n/a"},
		{"no block", "```csv", "```", Fail, "has no block ```csv with the header of this version"},
		{"other header", ",wall_ms,", ",wall_s,", Fail, "has no block"},
		{"broken number", ",736.7,", ",736;7,", Fail, `column msg_per_s: "736;7"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			changed := strings.Replace(doc, tt.old, tt.replacement, 1)
			if tt.old != "" && changed == doc {
				t.Fatalf("the document lacks %q", tt.old)
			}
			r := fixture()
			criteria := Acceptance(r, Context{BaselineDoc: []byte(changed), BaselineCommitted: true})
			wantCriterion(t, criterion(t, criteria, CriterionDocument), tt.verdict, tt.want)
			if code := ExitCode(r, criteria); code != ExitOK {
				t.Errorf("exit code %d: this criterion does not decide", code)
			}
		})
	}
}

func TestDocumentedOfAnotherWorkload(t *testing.T) {
	doc := goodContext(t).BaselineDoc
	r := fixture()
	r.Settings.Profile = "1kB@100"
	r.Runs = r.Runs[:3]
	wantCriterion(t, criterion(t, Acceptance(r, Context{BaselineDoc: doc, BaselineCommitted: true}), CriterionDocument), Pass,
		"3 rows equal, of 30 rows", "MB not compared")
	r.Runs[2].Path = "mine"
	wantCriterion(t, criterion(t, Acceptance(r, Context{BaselineDoc: doc, BaselineCommitted: true}), CriterionDocument), Fail,
		"no row for micro_run1, path mine, role all")
	wantCriterion(t, criterion(t, Acceptance(r, Context{}), CriterionDocument), Warn, "is missing; make baseline writes it")
	wantCriterion(t, criterion(t, Acceptance(uncounted(), Context{BaselineDoc: doc, BaselineCommitted: true}), CriterionDocument), NotApplicable)
}

func TestDocumentedIsCommitted(t *testing.T) {
	r, c := fixture(), goodContext(t)
	wantCriterion(t, criterion(t, Acceptance(r, c), CriterionDocument), Pass, "30 rows equal")
	c.BaselineCommitted = false
	criteria := Acceptance(r, c)
	wantCriterion(t, criterion(t, criteria, CriterionDocument), Warn, "is not committed", "30 rows equal")
	if code := ExitCode(r, criteria); code != ExitOK {
		t.Errorf("exit code %d: this criterion does not decide", code)
	}
	r.Runs[0].Nodes[0].Sites[0].Hashes += messages
	wantCriterion(t, criterion(t, Acceptance(r, c), CriterionDocument), Fail, "hashes_per_msg is 3.000")
}
