package bench_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/internal/postgrestest"
)

func smallArchiveStudy(t *testing.T) bench.ArchiveStudyOptions {
	o := bench.DefaultArchiveStudyOptions()
	o.Batches, o.Messages, o.Marks, o.Pruned, o.Runs, o.Folder = []int{1, 32}, 200, []int{1000, 2000}, 200, 1, t.TempDir()
	return o
}

func TestArchiveStudy(t *testing.T) {
	t.Parallel()
	o := smallArchiveStudy(t)
	s, err := bench.ArchiveStudy(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	for i, rows := range []int{2 * 3 * 2, 3 * 2, 3 * 2} { // payloads, archives, batches; marks; with and without retention
		if got := len(s.Tables[i].Rows); got != rows {
			t.Errorf("%s: %d rows, want %d", s.Tables[i].Title, got, rows)
		}
		for _, row := range s.Tables[i].Rows {
			for c, v := range row {
				if n, ok := v.(float64); ok && n <= 0 {
					t.Errorf("%s: %v: %s is %v", s.Tables[i].Title, row, s.Tables[i].Columns[c].Name, n)
				}
			}
		}
	}
	if left, err := os.ReadDir(o.Folder); err != nil || len(left) > 0 {
		t.Errorf("the study left %v, %v", left, err)
	}
}

func TestArchiveStudyEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	o := smallArchiveStudy(t)
	if _, err := bench.ArchiveStudy(ctx, o); !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v", err)
	}
	if left, err := os.ReadDir(o.Folder); err != nil || len(left) > 0 {
		t.Errorf("it left %v, %v", left, err)
	}
}

func TestArchiveStudyRefuses(t *testing.T) {
	o := bench.ArchiveStudyOptions{Backends: []string{"mysql:x"}, Batches: []int{0}, Marks: []int{5, 3}, Pruned: -1}
	_, err := bench.ArchiveStudy(t.Context(), o)
	for _, want := range []string{"mysql:…", "batches [0]", "messages 0, runs 0, pruned -1", "marks [5 3]"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not say %q", err, want)
		}
	}
}

func TestArchiveStudyOfPostgreSQL(t *testing.T) {
	t.Parallel()
	o := smallArchiveStudy(t)
	o.Backends = []string{postgrestest.Start(t).URL()}
	o.CommandLine = []string{"msgpath", "bench", "archive", "--archive=memory," + o.Backends[0], "--runs=1"}
	o.Batches, o.Pruned = []int{8}, 0
	for range 2 { // what one leaves would stop the other
		s, err := bench.ArchiveStudy(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		if row := s.Tables[0].Rows[0]; len(s.Tables) != 2 || row[1] != "postgres" {
			t.Errorf("%d tables, first row %v", len(s.Tables), row)
		}
		if got := strings.Join(s.Environment.CommandLine, " "); got != "msgpath bench archive --archive=memory,postgres://… --runs=1" {
			t.Errorf("the result tells %q", got)
		}
	}
}
