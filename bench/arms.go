package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// An Arm is one thing that is measured beside others in one session.
type Arm struct {
	Name     string // its path in the result; no two of a scenario share one
	Scenario string // Micro or Macro
	Messages int    // measured messages a run; 0: those of the options
	Archive  string // as Options.Archive, or Discard; "": that of the options

	// Target makes what is driven, anew for each run. What of the options of nodes
	// does not concern it, it leaves aside.
	Target func(NodeOptions) Target
}

// RunArms runs every arm o.Runs times, all arms of a run before the next run, in
// turn forwards and backwards, so that what drifts weighs on all alike. It is
// [Run] for other things than scenarios on paths: o's Scenarios, Paths and
// Targets are not looked at, and there are no FilterPeers.
func RunArms(ctx context.Context, o Options, arms []Arm) (verdict.Result, error) {
	o.Scenarios, o.Paths, o.Targets, o.FilterPeers = scenariosOf(arms), namesOf(arms), nil, 0
	if err := errors.Join(o.validateRun(), validateArms(arms)); err != nil {
		return verdict.Result{}, err
	}
	var jobs []job
	for number := 1; number <= o.Runs; number++ {
		for i := range arms {
			if number%2 == 0 {
				i = len(arms) - 1 - i
			}
			jobs = append(jobs, job{arms[i], number, 0})
		}
	}
	return runJobs(ctx, o, jobs)
}

func validateArms(arms []Arm) error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("bench: arms: "+format, args...)) }
	if len(arms) == 0 {
		bad("there are none")
	}
	seen := make(map[[2]string]bool)
	for _, a := range arms {
		key := [2]string{a.Scenario, a.Name}
		switch {
		case a.Name == "" || a.Target == nil:
			bad("%q has no name or no target", a.Name)
		case a.Scenario != Micro && a.Scenario != Macro:
			bad("%q: scenario %q: want micro or macro", a.Name, a.Scenario)
		case seen[key]:
			bad("%q is there twice in %s", a.Name, a.Scenario)
		case a.Messages < 0:
			bad("%q: %d messages", a.Name, a.Messages)
		}
		seen[key] = true
		if err := checkArchive(a.Archive); a.Archive != "" && err != nil {
			bad("%q: %w", a.Name, err)
		}
	}
	return errors.Join(errs...)
}

func scenariosOf(arms []Arm) (names []string) {
	return distinct(arms, func(a Arm) string { return a.Scenario })
}

func namesOf(arms []Arm) (names []string) {
	return distinct(arms, func(a Arm) string { return a.Name })
}

func distinct(arms []Arm, name func(Arm) string) (names []string) {
	seen := make(map[string]bool)
	for _, a := range arms {
		if n := name(a); !seen[n] {
			seen[n] = true
			names = append(names, n)
		}
	}
	return names
}

// jobs returns the runs in order: scenario by scenario, all paths of a run
// before the next run, so that what changes on the machine meets all paths. Only
// the project's own node has a micro.
func (o Options) jobs() (jobs []job) {
	for _, scenario := range o.Scenarios {
		for number := 1; number <= o.Runs; number++ {
			for _, path := range o.Paths {
				if arm, ok := o.arm(scenario, path); ok {
					jobs = append(jobs, job{arm, number, o.FilterPeers})
				}
			}
		}
	}
	return jobs
}

// arm returns what a path is in a scenario, and false if it is nothing there.
func (o Options) arm(scenario, path string) (Arm, bool) {
	if reach, err := relay.ParsePath(path); err == nil {
		return PathArm(scenario, reach), true
	}
	arm := Arm{Name: path, Scenario: scenario}
	if path == PathRaw {
		arm.Target = func(n NodeOptions) Target { return NewRaw(RawOptions{Extra: n.Extra}) }
	} else if make := o.Targets[path]; make != nil {
		arm.Target = func(NodeOptions) Target { return make() }
	}
	return arm, scenario == Macro && arm.Target != nil
}

// PathArm returns the project's own node at a reach, under the path's name.
func PathArm(scenario string, reach relay.Reach) Arm {
	return Arm{Name: reach.String(), Scenario: scenario, Target: func(n NodeOptions) Target {
		n.Reach = reach
		if scenario == Micro {
			return NewMicro(n)
		}
		return NewMacro(n)
	}}
}

// job is one run to be made.
type job struct {
	Arm
	number      int
	filterPeers int
}

func (j job) name() string { return verdict.RunName(j.series(), j.number) }

// series returns the name of the job's scenario.
func (j job) series() string { return verdict.WithFilter(j.Scenario, j.filterPeers) }

// archive returns the archive of a job's nodes.
func (s *session) archive(j job) string { return cmp.Or(j.Archive, s.options.Archive) }

// count returns how many messages a job measures.
func (s *session) count(j job) int { return cmp.Or(j.Messages, s.options.Messages) }
