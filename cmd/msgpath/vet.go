package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/msgpath/msgpath/internal/uncounted"
	"github.com/msgpath/msgpath/verdict"
)

type vetCommand struct {
	Packages   []string `arg:"" optional:"" help:"Packages as the go command names them; default ./... ."`
	Tags       []string `help:"Build tags beside msgpathcounters, comma separated."`
	JSON       bool     `name:"json" help:"Print the findings and exceptions as JSON."`
	Exceptions bool     `help:"List the declared exceptions with their reasons and judge nothing."`
}

// notice is how long vet may take before it says what it does.
const notice = 5 * time.Second

// Run looks for events that nothing counts, in the module of the working
// directory.
func (v *vetCommand) Run(ctx context.Context, out *output) error {
	quiet := say(out.stderr, "msgpath: loading the module and what it depends on", notice)
	report, err := uncounted.Examine(ctx, uncounted.Options{Patterns: v.Packages, Tags: v.Tags})
	quiet()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return err
	}
	if err := v.print(out.stdout, report); err != nil {
		return err
	}
	out.code = v.judge(report, out.stderr)
	return nil
}

// say writes a line to w unless quiet is called before the time is over. When
// quiet, which is called once, returns, nothing writes any more.
func say(w io.Writer, line string, after time.Duration) (quiet func()) {
	said := make(chan struct{})
	timer := time.AfterFunc(after, func() {
		defer close(said)
		fmt.Fprintln(w, line)
	})
	return func() {
		if !timer.Stop() {
			<-said
		}
	}
}

func (v *vetCommand) print(w io.Writer, report uncounted.Report) error {
	switch {
	case v.JSON:
		return report.WriteJSON(w)
	case v.Exceptions:
		return report.WriteExceptions(w)
	}
	return report.WriteText(w)
}

// judge returns the exit code, and says on w what the findings do not.
func (v *vetCommand) judge(report uncounted.Report, w io.Writer) int {
	switch {
	case report.Packages == 0:
		fmt.Fprintf(w, "msgpath: no package matches %s\n", strings.Join(v.Packages, " "))
		return verdict.ExitUnexamined
	case report.Counts == 0:
		fmt.Fprint(w, nothingCounts)
		return verdict.ExitUnexamined
	case len(report.Findings) > 0 && !v.Exceptions:
		fmt.Fprintln(w, "msgpath:", report.Summary())
		return verdict.ExitFailed
	}
	return verdict.ExitOK
}

// nothingCounts is how to begin.
const nothingCounts = `msgpath: nothing counts here: no function of the module calls package counters.
To begin, go get ` + uncounted.CountersPath + `, declare a site and count at one event, say a decode:

	var siteHandler = counters.NewSite("relay.handler")
	...
	err := proto.Unmarshal(data, m)
	if counters.Enabled {
		counters.Decode(r.counts, siteHandler, len(data))
	}

Then msgpath vet lists the events that are not counted yet.
`
