package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/msgpath/msgpath/bench/budgets"
	"github.com/msgpath/msgpath/internal/selftest"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/gate"
)

type gateCommand struct {
	Check   gateCheck   `cmd:"" default:"withargs" help:"Judge a run by budgets (what gate alone does). Exit code 1: a limit fails; 3: the run is invalid or a needed count is n/a; 4: a limit matches nothing, or none could be decided."`
	Ratchet gateRatchet `cmd:"" help:"Tighten a budget to what a run measured, never loosen it, and print what changed."`
}

type gateCheck struct {
	Results []string `arg:"" optional:"" name:"run" help:"Results: JSON, CSV or Go benchmark lines. A name that ends in .yaml is one more budget, so that --budget takes a shell's pattern."`
	Budget  []string `placeholder:"FILE" help:"Budgets, or a name of those built in: acceptance, counts, memory."`
	Base    []string `placeholder:"RUN" help:"Results that limits of changes are relative to."`
	Strict  bool     `help:"Exit code 1 for WARN and INCONCLUSIVE too."`
	Format  string   `default:"text" enum:"text,json" help:"text or json."`

	Selftest    bool `help:"Show that gate, diff, lock and acceptance can fail: in a checkout of msgpath, run it with something wrong in it, one thing at a time. Takes minutes and no RUN."`
	Comparisons int  `default:"1000" help:"With --selftest, how often runs of the same code are compared with each other."`
}

// Run judges and prints.
func (g *gateCheck) Run(ctx context.Context, out *output) error {
	if g.Selftest {
		return g.selftest(ctx, out)
	}
	runs, files := g.arguments()
	budget, err := readBudgets(files, len(g.Base) > 0)
	if err != nil {
		return err
	}
	run, err := recordOf(runs)
	if err != nil {
		return out.unusable(err)
	}
	var base *verdict.Record
	if len(g.Base) > 0 {
		record, err := recordOf(g.Base)
		if err != nil {
			return out.unusable(err)
		}
		base = &record
	}
	report, err := judge(budget, run, base)
	if err != nil {
		return err
	}
	report.Strict = g.Strict
	out.code = report.ExitCode()
	if g.Format == "json" {
		return gate.WriteJSON(out.stdout, report)
	}
	return gate.WriteText(out.stdout, report)
}

func (g *gateCheck) selftest(ctx context.Context, out *output) error {
	if len(g.Results)+len(g.Budget)+len(g.Base) > 0 {
		return errors.New("--selftest takes no RUN, --budget or --base: it makes its own")
	}
	report, err := selftest.Run(ctx, selftest.Options{Dir: ".", Comparisons: g.Comparisons, Progress: out.stderr})
	if errors.Is(err, selftest.ErrUncounted) {
		fmt.Fprintln(out.stderr, "msgpath:", err)
		out.code = verdict.ExitInvalid
		return nil
	}
	if err != nil {
		return err
	}
	out.code = report.ExitCode()
	return report.WriteText(out.stdout)
}

// arguments tells results and budgets apart.
func (g *gateCheck) arguments() (runs, files []string) {
	files = slices.Clone(g.Budget)
	for _, name := range g.Results {
		if ext := filepath.Ext(name); ext == ".yaml" || ext == ".yml" {
			files = append(files, name)
		} else {
			runs = append(runs, name)
		}
	}
	return runs, files
}

// judge judges a run by limits whose metrics it must know.
func judge(budget gate.Budget, run verdict.Record, base *verdict.Record) (gate.Report, error) {
	if err := budget.CheckMetrics(run); err != nil {
		return gate.Report{}, err
	}
	return gate.Judge(budget, run, base), nil
}

// readBudgets reads files and built-in budgets, and returns everything that is
// wrong with any of them, a limit of changes where there is no base included.
func readBudgets(names []string, base bool) (gate.Budget, error) {
	if len(names) == 0 {
		return gate.Budget{}, errors.New("give a --budget")
	}
	var all []gate.Budget
	var errs []error
	for _, name := range names {
		file, text, err := readBudget(name)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		budget, err := gate.Parse(file, text)
		all, errs = append(all, budget), append(errs, err)
	}
	budget := gate.Join(all...)
	if l, needs := budget.NeedsBase(); needs && !base {
		errs = append(errs, fmt.Errorf("%s: limits a change: give --base", l.At))
	}
	return budget, errors.Join(errs...)
}

func readBudget(name string) (file string, text []byte, err error) {
	if slices.Contains(budgets.Names(), name) {
		return budgets.Read(name)
	}
	text, err = os.ReadFile(name)
	return name, text, err
}

type gateRatchet struct {
	Results []string `arg:"" name:"run" help:"Results of one state of the code."`
	Budget  string   `required:"" placeholder:"FILE" help:"The budget to rewrite. Only numbers change."`
	All     bool     `help:"Tighten limits of memory and times too, by their worst sample or interval and the margin."`
	Margin  float64  `default:"5" help:"Percent that --all leaves between what was measured and the limit."`
	DryRun  bool     `help:"Print what would change, and write nothing."`
}

// Run rewrites the budget in its place.
func (g *gateRatchet) Run(out *output) error {
	text, err := os.ReadFile(g.Budget)
	if err != nil {
		return err
	}
	run, err := recordOf(g.Results)
	if err != nil {
		return out.unusable(err)
	}
	t, err := gate.Ratchet(g.Budget, text, run, gate.Options{All: g.All, Margin: g.Margin})
	if err != nil {
		return err
	}
	if out.code = t.ExitCode(); out.code == verdict.ExitOK && len(t.Changes) > 0 && !g.DryRun {
		if err := replaceFile(g.Budget, t.Text); err != nil {
			return fmt.Errorf("write budget: %w", err)
		}
	}
	return gate.WriteTightening(out.stdout, t)
}
