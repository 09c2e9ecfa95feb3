package bench

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"

	"github.com/google/pprof/profile"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/limits"
)

// profiledLines is how many functions of a profile are told.
const profiledLines = 12

// profiles returns where the CPU time of the measured part goes, of each arm with
// a limit that did not pass.
func (o LimitsOptions) profiles(ctx context.Context, all []limits.Limit) ([]limits.Profile, error) {
	profiles := []limits.Profile{}
	for _, arm := range o.arms() {
		name := arm.Scenario + " " + arm.Name
		missed := slices.ContainsFunc(all, func(l limits.Limit) bool { return l.Arm == name && l.Verdict != verdict.Pass })
		if !missed {
			continue
		}
		lines, err := o.profile(ctx, arm)
		if err != nil {
			return profiles, fmt.Errorf("bench: profile %s: %w", name, err)
		}
		profiles = append(profiles, limits.Profile{Arm: name, Lines: lines})
	}
	return profiles, nil
}

func (o LimitsOptions) profile(ctx context.Context, arm Arm) ([]limits.Share, error) {
	session := o.Options
	session.Runs = o.Profiled
	var runs []*bytes.Buffer
	session.measured = func() (func(), error) {
		b := new(bytes.Buffer)
		runs = append(runs, b)
		return pprof.StopCPUProfile, pprof.StartCPUProfile(b)
	}
	if _, err := RunArms(ctx, session, []Arm{arm}); err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, errors.New("no run began")
	}
	var parts []*profile.Profile
	for _, b := range runs {
		p, err := profile.Parse(b)
		if err != nil {
			return nil, err
		}
		parts = append(parts, p)
	}
	p, err := profile.Merge(parts)
	if err != nil {
		return nil, err
	}
	return shares(p), nil
}

// shares returns the functions that took the most time themselves.
func shares(p *profile.Profile) (lines []limits.Share) {
	sum, of := 0.0, make(map[string]float64)
	for _, s := range p.Sample {
		nanos := float64(s.Value[len(s.Value)-1])
		sum += nanos
		of[leaf(s)] += nanos
	}
	for name, nanos := range of {
		lines = append(lines, limits.Share{Function: name, Percent: 100 * nanos / sum})
	}
	slices.SortFunc(lines, func(a, b limits.Share) int {
		return cmp.Or(cmp.Compare(b.Percent, a.Percent), cmp.Compare(a.Function, b.Function))
	})
	return lines[:min(profiledLines, len(lines))]
}

// leaf returns the function in which a sample was taken.
func leaf(s *profile.Sample) string {
	if len(s.Location) == 0 || len(s.Location[0].Line) == 0 || s.Location[0].Line[0].Function == nil {
		return "?"
	}
	return s.Location[0].Line[0].Function.Name
}
