package main

import (
	"testing"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/diff"
	"github.com/msgpath/msgpath/verdict/report"
)

// TestComparedVerdict: a page about a comparison says what the comparison's exit
// code says.
func TestComparedVerdict(t *testing.T) {
	lost := diff.Side{Invalid: []verdict.Invalid{{Reason: "lost"}}}
	for _, tt := range []struct {
		name string
		of   diff.Comparison
		want verdict.Verdict
	}{
		{"nothing worse", diff.Comparison{ExitCode: verdict.ExitOK}, verdict.Pass},
		{"worse", diff.Comparison{ExitCode: verdict.ExitFailed}, verdict.Fail},
		{"n/a", diff.Comparison{ExitCode: verdict.ExitInvalid}, verdict.Inconclusive},
		{"nothing compared", diff.Comparison{ExitCode: verdict.ExitUnexamined}, verdict.NotApplicable},
		{"invalid before", diff.Comparison{ExitCode: verdict.ExitInvalid, Before: lost}, report.Invalid},
		{"invalid after", diff.Comparison{ExitCode: verdict.ExitInvalid, After: lost}, report.Invalid},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := comparedVerdict(tt.of); got != tt.want {
				t.Errorf("comparedVerdict = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestCauseVerdict(t *testing.T) {
	for _, tt := range []struct {
		of   diff.Cause
		want verdict.Verdict
	}{
		{diff.Cause{Kind: "WORSE"}, verdict.Fail},
		{diff.Cause{Kind: "WORSE", Advisory: true}, verdict.Warn},
		{diff.Cause{Kind: "MISSING"}, verdict.Fail},
		{diff.Cause{Kind: "INVALID"}, report.Invalid},
		{diff.Cause{Kind: "BETTER"}, verdict.Pass},
		{diff.Cause{Kind: "NEW"}, verdict.NotApplicable},
		{diff.Cause{Kind: "SKIPPED"}, verdict.NotApplicable},
	} {
		if got := causeVerdict(tt.of); got != tt.want {
			t.Errorf("causeVerdict(%s, advisory %t) = %s, want %s", tt.of.Kind, tt.of.Advisory, got, tt.want)
		}
	}
}
