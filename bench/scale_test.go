package bench

import (
	"bytes"
	"context"
	"errors"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/scale"
)

// TestScaleOfWindow measures one row from end to end.
func TestScaleOfWindow(t *testing.T) {
	heavy(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	var progress bytes.Buffer
	r, err := Scale(t.Context(), ScaleOptions{Only: []string{"window"}, Quick: true, Runs: 1, Progress: &progress})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Rows) != 1 || len(r.Invalid) > 0 || len(r.Skipped) > 0 {
		t.Fatalf("%d rows, invalid %v, skipped %v", len(r.Rows), r.Invalid, r.Skipped)
	}
	row := r.Rows[0]
	if len(row.Series) != 2 || row.Series[0].Path != pathScaled || row.Series[1].Path != PathRaw {
		t.Fatalf("%+v", row.Series)
	}
	for _, s := range row.Series {
		if len(s.Points) != 3 || s.Points[2].X != 32 || s.Fit(scale.CPU).Exponent == nil {
			t.Errorf("%s: %+v", s.Path, s)
		}
		for _, p := range s.Points {
			checkScaled(t, s.Path, p)
		}
	}
	want := verdict.ExitOK
	if !counters.Enabled {
		want = verdict.ExitInvalid
	}
	if got := r.ExitCode(); got != want {
		t.Errorf("exit code %d, want %d", got, want)
	}
}

// checkScaled checks the one run of a point.
func checkScaled(t *testing.T, path string, p scale.Point) {
	t.Helper()
	run := p.Runs[0]
	if len(p.Runs) != 1 || run.Events != scaleMessagesQuick || run.CPUNanos <= 0 || run.AllocBytes <= 0 || run.LiveBytes <= 0 {
		t.Errorf("%s %d: %+v", path, p.X, p.Runs)
	}
	if (run.Encodes != nil) != counters.Enabled || run.Encodes != nil && *run.Encodes != 1 {
		t.Errorf("%s %d: encodes %v", path, p.X, run.Encodes)
	}
	if path == PathRaw {
		if run.Copies != nil || run.Written != nil || run.Mesh != nil {
			t.Errorf("raw tells of traffic: %+v", run)
		}
		return
	}
	if *run.Copies != 1 || *run.Mesh != 1 || *run.Written < 65_000 || *run.Written > 65_200 {
		t.Errorf("%d: copies %g of %g bytes, mesh %d, want 1 of 65 kB and 1", p.X, *run.Copies, *run.Written, *run.Mesh)
	}
}

// TestScaleOfArchive: each mark has its own inserts, and nothing is left on disk.
func TestScaleOfArchive(t *testing.T) {
	heavy(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	dir := t.TempDir()
	r, err := Scale(t.Context(), ScaleOptions{Only: []string{archiveRow}, Quick: true, Runs: 1, Folder: dir})
	if err != nil {
		t.Fatal(err)
	}
	points := r.Rows[0].Series[0].Points
	if len(points) != len(archiveMarks(true)) || r.ExitCode() != verdict.ExitOK {
		t.Fatalf("%d points, exit code %d", len(points), r.ExitCode())
	}
	for i, p := range points {
		if p.X != archiveMarks(true)[i] || len(p.Runs) != 1 || p.Runs[0].Events != archiveMeasured(true) || p.Runs[0].Encodes != nil {
			t.Errorf("%+v", p)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestInterruptedScaleLeavesNothing(t *testing.T) {
	for _, row := range []string{"topics", archiveRow} {
		ctx, cancel := context.WithCancel(t.Context())
		dir := t.TempDir()
		o := ScaleOptions{Only: []string{row}, Quick: true, Folder: dir, LogTo: nil}
		cancel()
		r, err := Scale(ctx, o)
		if !errors.Is(err, context.Canceled) || len(r.Rows) > 0 {
			t.Errorf("%s: %v, %d rows", row, err, len(r.Rows))
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
			t.Errorf("%s: left behind: %v %v", row, left, err)
		}
	}
}

func TestScaleOptionsAreChecked(t *testing.T) {
	err := ScaleOptions{Only: []string{"window", "moon", "window"}, Runs: -1}.Validate()
	for _, want := range []string{`"moon"`, "given twice", "-1 runs", "gomaxprocs"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v has no %q", err, want)
		}
	}
	if err := (ScaleOptions{}).Validate(); err != nil {
		t.Error(err)
	}
	if _, err := Scale(t.Context(), ScaleOptions{Runs: -1}); err == nil {
		t.Error("Scale takes what Validate refuses")
	}
}

// Every row has values to fit and settings that a run accepts, and --quick asks
// for a tenth at most.
func TestDimensions(t *testing.T) {
	for _, d := range dimensions() {
		for _, quick := range []bool{false, true} {
			s := scaling{options: ScaleOptions{Quick: quick}.withDefaults()}
			values := d.values(quick)
			if !slices.IsSorted(values) || len(values) < 3 && d.name != "gomaxprocs" {
				t.Errorf("%s: values %v", d.name, values)
			}
			for _, x := range values {
				o := s.shape(d, x).options(s.options)
				if err := o.validateRun(); err != nil {
					t.Errorf("%s %d: %v", d.name, x, err)
				}
			}
			if d.held(quick) == "" || d.unit == "" {
				t.Errorf("%s does not say what is held", d.name)
			}
		}
		if last := len(d.quick) - 1; d.quick[last] > d.full[len(d.full)-1] {
			t.Errorf("%s: quick goes on to %d", d.name, d.quick[last])
		}
	}
	if all := ScaleRows(); len(all) != 8 || !slices.Contains(all, archiveRow) {
		t.Errorf("rows %v", all)
	}
}

// A value that does not fit into memory is left out and said so.
func TestWhatDoesNotFitIsSkipped(t *testing.T) {
	s := scaling{options: ScaleOptions{}.withDefaults()}
	d := dimension{name: "huge", full: []int{1000, 1 << 40}, set: func(s *shape, x int) { s.messages = x }}
	d, err := s.affordable(d)
	if err != nil || !slices.Equal(d.full, []int{1000}) {
		t.Errorf("values %v, %v", d.full, err)
	}
	if len(s.result.Skipped) != 1 || s.result.Skipped[0].X != 1<<40 || !strings.Contains(s.result.Skipped[0].Reason, "GB") {
		t.Errorf("skipped %+v", s.result.Skipped)
	}
}

// TestProcessorsAreGivenBack: a target changes GOMAXPROCS while it runs.
func TestProcessorsAreGivenBack(t *testing.T) {
	before := runtime.GOMAXPROCS(0)
	target := shape{processors: before + 1}.onProcessors(&idle{})
	if err := target.Close(); err != nil || runtime.GOMAXPROCS(0) != before {
		t.Error("a target that never started changed it", err)
	}
	if err := target.Start(t.Context(), nil); err != nil || runtime.GOMAXPROCS(0) != before+1 {
		t.Errorf("it is %d while the target runs, want %d (%v)", runtime.GOMAXPROCS(0), before+1, err)
	}
	for range 2 {
		if err := target.Close(); err != nil || runtime.GOMAXPROCS(0) != before {
			t.Errorf("it is %d after Close, want %d (%v)", runtime.GOMAXPROCS(0), before, err)
		}
	}
	if n, err := target.(Viewer).Views(); n != 0 || err != nil {
		t.Errorf("%d views, %v", n, err)
	}
}

// idle is a target that does nothing.
type idle struct{}

func (*idle) Start(context.Context, []*pb.WakuMessage) error { return nil }
func (*idle) Publish(context.Context, int) error             { return nil }
func (*idle) Delivered() <-chan Delivery                     { return nil }
func (*idle) Close() error                                   { return nil }
func (*idle) Nodes(context.Context) ([]verdict.Node, error)  { return nil, nil }
func (*idle) Losses() []string                               { return nil }
func (*idle) Verify(context.Context) error                   { return nil }
