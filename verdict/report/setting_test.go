package report

import (
	"slices"
	"testing"

	"github.com/msgpath/msgpath/verdict"
)

func TestWorkloadNamesTheCorpus(t *testing.T) {
	var r verdict.Result
	named := func(line [2]string) bool { return line[0] == "Corpus" }
	if slices.ContainsFunc(workload(r), named) {
		t.Error("a generated workload has a corpus")
	}
	r.Settings.Corpus = &verdict.Corpus{File: "x.corpus", Messages: 7, SHA256: "1a2b"}
	lines := workload(r)
	if got, want := lines[len(lines)-1][1], "x.corpus, 7 messages, SHA-256 1a2b"; got != want {
		t.Errorf("corpus: %q, want %q", got, want)
	}
}
