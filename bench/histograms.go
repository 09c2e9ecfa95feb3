package bench

import (
	"bytes"
	"fmt"
	"net/url"

	"github.com/msgpath/msgpath/verdict"
)

// Histograms are the latencies of all valid runs of an open loop, for files. The
// zero value is empty. [Run] empties and fills them; they may be used when it has
// returned.
type Histograms struct {
	files []HistogramFile // of each run
	whole []histogram     // of all runs of a path
}

// histogram is one latency of all runs of a path.
type histogram struct {
	verdict.Distribution // without points
	times                *Latencies
}

// A HistogramFile is one latency of one run, or of all runs of a path, as
// [Latencies.Print] prints it. Of a run no more than this is kept, so that later runs
// do not have more live heap than earlier ones.
type HistogramFile struct {
	Name string // "macro-zerocopy-intended.hgrm"
	Text []byte
}

// emptyHistograms makes sure that there are histograms, of no run.
func (s *session) emptyHistograms() {
	if s.options.Histograms == nil {
		s.options.Histograms = new(Histograms)
	}
	*s.options.Histograms = Histograms{}
}

// add keeps what d measured in a run. A latency that was not measured is not
// kept.
func (h *Histograms) add(d *driver, j job) error {
	for _, one := range []struct {
		from, to  string
		latencies *Latencies
	}{
		{verdict.FromIntended, verdict.ToApplication, d.open.whole},
		{verdict.FromSent, verdict.ToApplication, d.whole},
		{verdict.FromIntended, verdict.ToCommit, d.open.commit},
		{verdict.FromSent, verdict.ToCommit, d.latencies},
	} {
		if one.latencies.Count() == 0 {
			continue
		}
		of := verdict.Distribution{Scenario: j.series(), Path: j.Name, From: one.from, To: one.to, Runs: 1}
		file, err := newHistogramFile(of, j.number, one.latencies)
		if err != nil {
			return err
		}
		h.files = append(h.files, file)
		h.merge(of, one.latencies)
	}
	return nil
}

// merge adds the times of a run to those of its path.
func (h *Histograms) merge(of verdict.Distribution, l *Latencies) {
	for i := range h.whole {
		w := &h.whole[i]
		if w.Scenario == of.Scenario && w.Path == of.Path && w.From == of.From && w.To == of.To {
			w.Runs++
			w.times.Add(l)
			return
		}
	}
	w := histogram{of, NewLatencies()}
	w.times.Add(l)
	h.whole = append(h.whole, w)
}

// Distributions returns the latencies of each path, all runs together.
func (h *Histograms) Distributions() (all []verdict.Distribution) {
	for _, w := range h.whole {
		d := w.Distribution
		d.Quantiles, d.Points = w.times.Quantiles(), w.times.Points()
		all = append(all, d)
	}
	return all
}

// HistogramSuffix is how names of histogram files end.
const HistogramSuffix = ".hgrm"

// newHistogramFile names a file "macro-zerocopy-intended.hgrm" for all runs (run 0)
// to the application, "macro-zerocopy-sent-commit-run2.hgrm" for the second to the
// commit. A path is escaped as in a URL.
func newHistogramFile(of verdict.Distribution, run int, l *Latencies) (HistogramFile, error) {
	name := of.Scenario + "-" + url.PathEscape(of.Path) + "-" + of.From
	if of.To == verdict.ToCommit {
		name += "-" + of.To
	}
	if run > 0 {
		name += fmt.Sprintf("-run%d", run)
	}
	var text bytes.Buffer
	err := l.Print(&text)
	return HistogramFile{name + HistogramSuffix, text.Bytes()}, err
}

// Files returns each latency of all runs of a path together, and of each run.
func (h *Histograms) Files() ([]HistogramFile, error) {
	var all []HistogramFile
	for _, w := range h.whole {
		file, err := newHistogramFile(w.Distribution, 0, w.times)
		if err != nil {
			return nil, err
		}
		all = append(all, file)
	}
	return append(all, h.files...), nil
}
