//go:build msgpathcounters

package relay

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

// seenLabels are the labels that goroutines had where they were looked at, by the
// place.
type seenLabels struct {
	mu  sync.Mutex
	all map[string]string
}

// look notes the labels of the calling goroutine.
func (s *seenLabels) look(place string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	_ = pprof.Lookup("goroutine").WriteTo(&b, 1)
	for stack := range strings.SplitSeq(b.String(), "\n\n") {
		if !strings.Contains(stack, "seenLabels") || !strings.Contains(stack, "WriteTo") {
			continue
		}
		_, labels, _ := strings.Cut(stack, "# labels: ")
		s.all[place], _, _ = strings.Cut(labels, "\n")
	}
}

func (s *seenLabels) expect(t *testing.T, place, site, node string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if want := `{"node":"` + node + `", "site":"` + site + `"}`; s.all[place] != want {
		t.Errorf("%s has the labels %s, want %s", place, s.all[place], want)
	}
}

// TestLabels: what runs at a site has its label and that of the node, while a
// profile is taken.
func TestLabels(t *testing.T) {
	counters.Labelling(true)
	defer counters.Labelling(false)
	seen := &seenLabels{all: make(map[string]string)}
	options := func(name string) Options {
		set := counters.New()
		counters.Name(set, name)
		return Options{
			Reach: ReachStage, Counts: set,
			Observers:  []Observer{func(o Observation) { seen.look(name + " " + o.Event.String()) }},
			Validators: []Validator{func(context.Context, *message.Envelope) error { seen.look(name + " validator"); return nil }},
			Stages:     []Stage{func(context.Context, *message.Envelope) error { seen.look(name + " stage"); return nil }},
		}
	}
	a, b := pair(t, options("A"), options("B"))
	a.publish(topicA, sample(1, 1000))
	b.passed.wait(t, "messages of B", 1)
	a.passed.wait(t, "messages of A", 1)
	a.seen[Sent].wait(t, "observations of A", 1)
	for place, site := range map[string]string{
		"A validator": "relay.validator", "A on_send": "relay.on_send", "A stage": "relay.handler",
		"B on_recv": "relay.on_recv", "B validator": "relay.validator", "B on_validated": "relay.on_validated", "B stage": "relay.handler",
	} {
		seen.expect(t, place, site, place[:1])
	}
}

// TestProfileAnswersWhatTheValidatorCosts takes a CPU profile of a node whose
// validator is busy, and asks pprof.
func TestProfileAnswersWhatTheValidatorCosts(t *testing.T) {
	set := counters.New()
	counters.Name(set, "B")
	n := start(t, Options{
		Topics: []string{topicA}, Counts: set,
		Validators: []Validator{func(context.Context, *message.Envelope) error {
			for began := time.Now(); time.Since(began) < 300*time.Millisecond; { // some 30 samples
			}
			return nil
		}},
	})
	name := filepath.Join(t.TempDir(), "cpu.out")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		t.Fatal(err)
	}
	counters.Labelling(true)
	err = n.Inject(deadline(t), received(topicA, encode(t, sample(1, 1000))))
	counters.Labelling(false)
	pprof.StopCPUProfile()
	if err != nil || file.Close() != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "tool", "pprof", "-raw", "-tagfocus=site=relay.validator", name).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "node:[B] site:[relay.validator]") {
		t.Errorf("no sample is of the validator of B: %v\n%s", err, out)
	}
}
