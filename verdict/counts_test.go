package verdict

import (
	"bytes"
	"strings"
	"testing"
)

func TestWriteCounts(t *testing.T) {
	text := written(t, func(b *bytes.Buffer) error { return WriteCounts(b, fixture()) })
	equal(t, "counts.txt", text)
	for _, line := range strings.Split(string(text), "\n") {
		if n := len([]rune(line)); n > 100 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
}

// A count that was not made is n/a, and one that is not the same in every run is
// marked.
func TestWriteCountsOfOtherResults(t *testing.T) {
	text := string(written(t, func(b *bytes.Buffer) error { return WriteCounts(b, uncounted()) }))
	if strings.Contains(text, "1.000") || strings.Contains(text, "·") {
		t.Errorf("an uncounted result has counts:\n%s", text)
	}
	r := ours()
	r.Runs[0].Nodes[0].Sites[0].Hashes++
	text = string(written(t, func(b *bytes.Buffer) error { return WriteCounts(b, r) }))
	if !strings.Contains(text, "1.000-1.001 !") {
		t.Errorf("runs that disagree are not marked:\n%s", text)
	}
	r.Runs, r.Verified = nil, false
	text = string(written(t, func(b *bytes.Buffer) error { return WriteCounts(b, r) }))
	if text != "No run is valid.\n" {
		t.Errorf("a result without runs: %q", text)
	}
}
