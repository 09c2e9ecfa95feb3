package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// small returns options that run in about a second.
func small(t *testing.T, scenarios ...string) Options {
	t.Helper()
	p, err := ParseProfile("1/2/3kB@25/50/25")
	if err != nil {
		t.Fatal(err)
	}
	o := DefaultOptions()
	o.Scenarios, o.Profile, o.Messages, o.WarmupMicro, o.WarmupMacro, o.Runs = scenarios, p, 60, 5, 5, 1
	return o
}

// heavy leaves a test that starts many nodes to one build of the race detector's two.
func heavy(t *testing.T) {
	t.Helper()
	if raceEnabled && !counters.Enabled {
		t.Skip("with the race detector it runs in the build that counts")
	}
}

// single leaves a test of what starts no goroutine here to runs without the race
// detector.
func single(t *testing.T) {
	t.Helper()
	if raceEnabled {
		t.Skip("it starts no goroutine: it runs without the race detector")
	}
}

func mustRun(t *testing.T, o Options) verdict.Result {
	t.Helper()
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range r.Invalid {
		t.Errorf("%s of path %s is invalid: %s", i.Scenario, i.Path, i.Reason)
	}
	if t.Failed() {
		t.FailNow()
	}
	return r
}

// TestCountsAreExact holds the counts of every site at every log level and with
// both hashes to verdict.ExpectedCounts.
func TestCountsAreExact(t *testing.T) {
	for _, level := range []slog.Level{slog.LevelDebug, slog.LevelError} {
		for _, hash := range []message.Algorithm{message.Blake3, message.WakuSHA256} {
			t.Run(level.String()+" "+hash.String(), func(t *testing.T) {
				o := small(t, Micro, Macro)
				o.LogLevel, o.LogTo, o.Hash = level, new(bytes.Buffer), hash
				r := mustRun(t, o)
				if len(r.Runs) != 3+4 || !r.Verified {
					t.Fatalf("%d runs, verified %v", len(r.Runs), r.Verified)
				}
				checkAcceptance(t, r)
			})
		}
	}
}

// checkAcceptance holds a result of every path to the exact counts, which a
// build without the tag never has.
func checkAcceptance(t *testing.T, r verdict.Result) {
	t.Helper()
	criteria := verdict.Acceptance(r, verdict.Context{})
	code := verdict.ExitCode(r, criteria)
	if counters.Enabled && code != verdict.ExitOK {
		t.Errorf("exit code %d: %+v", code, criteria)
	}
	if !counters.Enabled && code != verdict.ExitInvalid {
		t.Errorf("exit code %d of a build that does not count, want %d", code, verdict.ExitInvalid)
	}
}

func TestLatencyEndsAtTheCommit(t *testing.T) {
	for _, run := range mustRun(t, small(t, Micro, Macro)).Runs {
		switch {
		case run.Path == PathRaw:
			if run.LatencyP50 != nil || run.LatencyP99 != nil {
				t.Error("raw has no archive and a latency")
			}
		case run.LatencyP50 == nil || *run.LatencyP50 <= 0 || *run.LatencyP99 < *run.LatencyP50:
			t.Errorf("%s %s: latency %v, %v", run.Scenario, run.Path, run.LatencyP50, run.LatencyP99)
		case run.Scenario == "micro_run1" && *run.LatencyP50 > run.NanosPerP50:
			t.Errorf("%s: %d ns to the commit, %d ns to the application behind it", run.Path, *run.LatencyP50, run.NanosPerP50)
		}
	}
}

func TestArchivesAndStatesOfMemory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "bench.db")
	for _, name := range []string{"memory", "sqlite::memory:", "sqlite:" + file} {
		for _, cold := range []bool{false, true} {
			t.Run(fmt.Sprint(strings.TrimSuffix(name, file), " cold ", cold), func(t *testing.T) {
				o := small(t, Micro, Macro)
				o.Archive, o.Cold, o.Paths = name, cold, []string{"zerocopy"}
				mustRun(t, o)
			})
		}
	}
	left, err := filepath.Glob(file + "*")
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}
}

func TestArchiveFileOfSomebodyElseIsNotTouched(t *testing.T) {
	file := filepath.Join(t.TempDir(), "precious.db-wal")
	if err := os.WriteFile(file, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	o := small(t, Micro)
	o.Archive = "sqlite:" + file
	_, err := Run(t.Context(), o)
	if err == nil || !strings.Contains(err.Error(), file+" exists") {
		t.Errorf("got %v, want an error that names the file", err)
	}
	if data, _ := os.ReadFile(file); string(data) != "mine" {
		t.Errorf("the file holds %q now", data)
	}
	o.Archive = "sqlite:" + strings.TrimSuffix(file, "-wal")
	if _, err = Run(t.Context(), o); err == nil || !strings.Contains(err.Error(), file+" exists") {
		t.Errorf("got %v, want an error that names the file", err)
	}
}

func TestRunsAreInterleavedOverPaths(t *testing.T) {
	o := DefaultOptions()
	o.Runs = 2
	var got []string
	for _, j := range o.jobs() {
		got = append(got, j.name()+" "+j.Name)
	}
	want := []string{
		"micro_run1 baseline", "micro_run1 envelope", "micro_run1 zerocopy",
		"micro_run2 baseline", "micro_run2 envelope", "micro_run2 zerocopy",
		"macro baseline", "macro envelope", "macro zerocopy", "macro raw",
		"macro_run2 baseline", "macro_run2 envelope", "macro_run2 zerocopy", "macro_run2 raw",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestArchiveNamesAreTheNodes(t *testing.T) {
	for _, name := range []string{"", "sqlite:", "sqlite:file:x?mode=ro", "sqlite::memory:x"} {
		o := small(t, Micro)
		o.Archive = name
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "archive") {
			t.Errorf("archive %q: %v", name, err)
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Run(ctx, small(t, Macro)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the context's error", err)
	}
}

func TestOptionsAreRefusedWhole(t *testing.T) {
	o := DefaultOptions()
	o.Scenarios = []string{"nano"}
	o.Paths = []string{"baseline", "fast", "baseline"}
	o.Messages, o.Runs, o.Window, o.WarmupMicro = 0, 0, 5000, -1
	o.Archive, o.Profile = "postgres://u:secret@x", Profile{}
	_, err := Run(t.Context(), o)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{"5000", `"nano"`, `"fast"`, "twice", "at least 1", "postgres://…", "profile"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error does not speak of %s: %v", want, err)
		}
	}
}

// archiveOf returns a running archive in memory that holds ms.
func archiveOf(t *testing.T, ms ...*pb.WakuMessage) *archive.Archive {
	t.Helper()
	stored := make(chan error, len(ms))
	a, err := archive.New(archive.NewMemory(), archive.Options{Stored: func(_ *message.Envelope, err error) { stored <- err }})
	if err != nil {
		t.Fatal(err)
	}
	go a.Run(context.WithoutCancel(t.Context()))
	t.Cleanup(func() { a.Close() })
	for _, m := range ms {
		env, err := message.Seal(counters.New(), message.Format{}, PubsubTopic, m, siteApp)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Store(t.Context(), env); err != nil {
			t.Fatal(err)
		}
		if err := <-stored; err != nil {
			t.Fatal(err)
		}
	}
	return a
}

func TestVerifyFindsWhatIsMissingAddedOrAltered(t *testing.T) {
	w := NewWorkload(1, DefaultProfile(), PubsubTopic, 3, time.Now(), 0)
	want := make(map[message.Key]bool)
	for _, m := range w.Messages {
		want[message.Key{Timestamp: m.GetTimestamp(), Hash: message.Blake3.Sum(PubsubTopic, m)}] = true
	}
	check := func(ms ...*pb.WakuMessage) error {
		return verifyArchive(t.Context(), archiveOf(t, ms...), message.Blake3, want)
	}
	if err := check(w.Messages...); err != nil {
		t.Error(err)
	}
	if err := check(w.Messages[:2]...); !errors.Is(err, errInvalid) || !strings.Contains(err.Error(), "1 of 3 messages are missing") {
		t.Errorf("missing: %v", err)
	}
	altered := NewWorkload(2, DefaultProfile(), PubsubTopic, 1, time.Unix(0, w.Messages[2].GetTimestamp()), 0)
	if err := check(w.Messages[0], w.Messages[1], altered.Messages[0]); !errors.Is(err, errInvalid) || !strings.Contains(err.Error(), "not published") {
		t.Errorf("altered: %v", err)
	}
	m := archiveOf(t, w.Messages...)
	w.Messages[1].Payload[100] ^= 1 // the archive in memory holds the same bytes
	err := verifyArchive(t.Context(), m, message.Blake3, want)
	if !errors.Is(err, errInvalid) || !strings.Contains(err.Error(), "altered") {
		t.Errorf("bytes changed in the archive: %v", err)
	}
}

// faulty is macro with a fault at message 3.
type faulty struct {
	Target
	fault func(l faulty, ctx context.Context, i int) error
}

func (l faulty) Publish(ctx context.Context, i int) error {
	if i == 3 {
		return l.fault(l, ctx, i)
	}
	return l.Target.Publish(ctx, i)
}

func TestInvalidRunHasNoRow(t *testing.T) {
	zerocopy := func(fault func(faulty, context.Context, int) error) func() Target {
		return func() Target {
			return faulty{NewMacro(NodeOptions{Reach: relay.ReachNode, Archive: "memory", Logger: slog.New(slog.DiscardHandler)}), fault}
		}
	}
	o := small(t, Macro)
	o.Targets = map[string]func() Target{
		"refused": zerocopy(func(faulty, context.Context, int) error { return relay.ErrNotJoined }),
		"other":   zerocopy(func(l faulty, ctx context.Context, _ int) error { return l.Target.Publish(ctx, 4) }),
		"twice": zerocopy(func(l faulty, ctx context.Context, i int) error {
			l.Target.(*macroTarget).delivered <- Delivery{Index: i, At: time.Now()}
			return l.Target.Publish(ctx, i)
		}),
	}
	o.Paths, o.Window = []string{"refused", "other", "twice", "zerocopy"}, 1
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 1 || r.Runs[0].Path != "zerocopy" || len(r.Invalid) != 3 || r.Verified {
		t.Fatalf("%d rows, invalid %+v, verified %v", len(r.Runs), r.Invalid, r.Verified)
	}
	for i, want := range []string{"message 3 was not accepted", "message 4 was delivered and not published", "message 3 was delivered twice"} {
		if got := r.Invalid[i]; got.Scenario != Macro || !strings.Contains(got.Reason, want) {
			t.Errorf("%+v, want a reason with %q", got, want)
		}
	}
}

// TestTargetOfAnAdopter runs a target that keeps no account and verifies nothing.
func TestTargetOfAnAdopter(t *testing.T) {
	o := small(t, Macro)
	o.Targets = map[string]func() Target{"theirs": func() Target { return newShuttle(faithful) }}
	o.Paths = []string{"theirs"}
	r := mustRun(t, o)
	if len(r.Runs) != 1 || r.Runs[0].Path != "theirs" || r.Runs[0].Verified || r.Runs[0].WallNanos <= 0 {
		t.Fatalf("%+v", r.Runs)
	}
	var out bytes.Buffer
	if err := errors.Join(verdict.WriteCSV(&out, r), verdict.WriteJSON(&out, r), verdict.WriteText(&out, r)); err != nil {
		t.Error(err)
	}
	if code := verdict.ExitCode(r, verdict.Acceptance(r, verdict.Context{})); code != verdict.ExitInvalid {
		t.Errorf("exit code %d for what nobody verified, want %d", code, verdict.ExitInvalid)
	}
}

func TestRunThatCannotStartIsInvalid(t *testing.T) {
	o := small(t, Micro)
	o.Archive = "sqlite:" + filepath.Join(t.TempDir(), "gone", "bench.db")
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 0 || len(r.Invalid) != 3 || r.Verified {
		t.Fatalf("%d rows, %d invalid runs, verified %v", len(r.Runs), len(r.Invalid), r.Verified)
	}
	if reason := r.Invalid[0].Reason; !strings.Contains(reason, "start") || !strings.Contains(reason, "gone") {
		t.Errorf("reason: %s", reason)
	}
}
