package bench

import (
	"fmt"
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/vbauerster/cupwriter"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// Progress shows on a terminal which of a number of steps is running and how
// long the rest will take. To anything but a terminal it writes a line at the
// first step of every ten seconds, so that a log shows what goes on and a short
// job leaves nothing in it.
//
// It redraws when a step begins and at no other time, and Step returns when that
// is done, so that nothing of it runs while a step is being measured. One
// goroutine at a time may use it.
type Progress struct {
	bars    *mpb.Progress // nil where there is no terminal
	bar     *mpb.Bar
	redraw  chan any
	drawn   chan struct{} // one for each redrawing
	gone    chan any      // closed when the terminal cannot be written any more
	label   atomic.Pointer[string]
	total   int
	started int

	log    io.Writer // where there is no terminal; nil: nothing is written
	logged time.Time // when the last line was due
}

// logEvery is the time between two lines in a log.
const logEvery = 10 * time.Second

// NewProgress returns the progress of total steps, shown on w if w is a
// terminal. Close it with Done: on a terminal it holds goroutines until then.
func NewProgress(w io.Writer, total int) *Progress {
	p := &Progress{total: total, log: w, logged: time.Now()}
	f, ok := w.(*os.File)
	if !ok || !isatty.IsTerminal(f.Fd()) || total < 1 {
		return p
	}
	p.label.Store(new(string))
	p.redraw, p.drawn, p.gone = make(chan any), make(chan struct{}, 1), make(chan any)
	p.bars = mpb.New(
		mpb.WithConsoleWriter(flushNotifier{cupwriter.New(f, false), p.drawn}),
		mpb.WithManualRefresh(p.redraw),
		mpb.WithShutdownNotifier(p.gone))
	p.bar = p.bars.New(int64(total), mpb.BarStyle(), mpb.BarWidth(30),
		mpb.AppendDecorators(decor.Any(p.status(time.Now()))))
	return p
}

// Step announces that the next step begins, which ends the one before. Steps
// past the total are shown as the last one.
func (p *Progress) Step(label string) {
	if p.bars == nil {
		p.line(label)
		return
	}
	if p.started == p.total {
		return
	}
	p.label.Store(&label)
	if p.started > 0 {
		p.bar.Increment()
	}
	p.started++
	select {
	case p.redraw <- time.Now():
	case <-p.gone:
		return
	}
	select {
	case <-p.drawn:
	case <-p.gone:
	}
}

// line writes a step to a log when it is time for a line.
func (p *Progress) line(label string) {
	p.started++
	if p.log == nil || time.Since(p.logged) < logEvery {
		return
	}
	p.logged = time.Now()
	fmt.Fprintf(p.log, "msgpath: %d of %d: %s\n", min(p.started, p.total), p.total, label)
}

// Done ends the display: as complete if every step was announced, else where it
// stands. It returns when nothing of it runs any more. A second call does
// nothing.
func (p *Progress) Done() {
	if p.bars == nil {
		return
	}
	if p.started == p.total {
		p.bar.SetCurrent(int64(p.total))
	} else {
		p.bar.Abort(false)
	}
	p.bars.Wait()
	p.bars = nil
}

// status returns what stands beside the bar: "3/35 ETA 1m20s micro baseline".
func (p *Progress) status(began time.Time) decor.DecorFunc {
	return func(s decor.Statistics) string {
		if s.Completed {
			return fmt.Sprintf(" %d/%d in %v", s.Total, s.Total, time.Since(began).Round(time.Second))
		}
		running := min(s.Current+1, s.Total)
		return fmt.Sprintf(" %d/%d ETA %s %s", running, s.Total, remaining(time.Since(began), s.Current, s.Total), *p.label.Load())
	}
}

// remaining extrapolates from the steps done so far, which took elapsed.
func remaining(elapsed time.Duration, done, total int64) string {
	if done == 0 {
		return "?"
	}
	left := time.Duration(float64(elapsed) / float64(done) * float64(total-done))
	return left.Round(time.Second).String()
}

// flushNotifier tells when a drawing has been written.
type flushNotifier struct {
	*cupwriter.Writer
	flushed chan<- struct{}
}

// Flush is called by the bar's goroutine once for each drawing. Those at the end
// are waited for by nobody, and must not block.
func (w flushNotifier) Flush(lines int) error {
	err := w.Writer.Flush(lines)
	select {
	case w.flushed <- struct{}{}:
	default:
	}
	return err
}
