package bench_test

import (
	"strings"
	"testing"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/counters"
)

// With light peers baseline hashes twice more, and nobody encodes more.
func TestFilterStudy(t *testing.T) {
	t.Parallel()
	s, err := bench.FilterStudy(t.Context(), bench.FilterStudyOptions{Peers: []int{0, 2}, Messages: 20, Runs: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	rows := s.Tables[0].Rows
	if len(rows) != 2*3*2 {
		t.Fatalf("%d rows, want those of two scenarios, three paths and two numbers of light peers", len(rows))
	}
	for i, row := range rows {
		peers := []int{0, 2}[i%2]
		if row[2] != peers {
			t.Errorf("row %v, want one of %d light peers", row, peers)
		}
		if !counters.Enabled {
			if row[4] != nil {
				t.Errorf("row %v has counts in a build that does not count", row)
			}
			continue
		}
		want := 0.0
		if row[1] == "baseline" && peers > 0 {
			want = 2
		}
		if more := row[4].(float64) - rows[i-i%2][4].(float64); row[5] != want || more != want || row[6] != rows[i-i%2][6] || row[3] != rows[i-i%2][3] {
			t.Errorf("row %v beside %v: want %v hashes more, and as many decodes and encodes", row, rows[i-i%2], want)
		}
	}
}

func TestFilterStudyRefuses(t *testing.T) {
	err := bench.FilterStudyOptions{Peers: []int{3, 3, -1}, Runs: -1}.Validate()
	for _, want := range []string{"3 light peers are given twice", "-1 filter peers", "runs -1"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}
