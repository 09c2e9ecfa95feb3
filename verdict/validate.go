package verdict

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// problems collects what is wrong, each with the place where it is.
type problems struct{ errs []error }

func (p *problems) check(ok bool, format string, args ...any) {
	if !ok {
		p.errs = append(p.errs, fmt.Errorf(format, args...))
	}
}

// ErrInvalid is wrapped by what [Result.Validate] returns, and so by the errors of
// whoever reads a document: it is well-formed, and what it says cannot be.
var ErrInvalid = errors.New("verdict: invalid result")

// Validate returns everything that is wrong with r, joined under [ErrInvalid], or
// nil.
//
// A Result without runs is valid. Counts in a build that does not count, a run
// that is both valid and invalid, a run or site listed twice, a name that a CSV
// reader would change, and a count above 2⁵³ are not. Nor is a verified run whose
// messages were not all published, or not delivered once by every node but the
// publishers: one of these need not deliver to itself.
func (r Result) Validate() error {
	var p problems
	p.check(r.Kind == Kind, "kind is %q, want %q", r.Kind, Kind)
	p.check(r.SchemaVersion == SchemaVersion, "schema version is %d, this program reads %d", r.SchemaVersion, SchemaVersion)
	p.check(r.Settings.FilterPeers >= 0, "settings: filterPeers is %d", r.Settings.FilterPeers)
	p.check(finite(r.Settings.Rate) && r.Settings.Rate >= 0, "settings: rate is %v", r.Settings.Rate)
	p.check(finite(r.Environment.Load1), "environment: load1 is %v", r.Environment.Load1)
	p.check(len(r.Runs) == 0 || r.Settings.PayloadBytes > 0, "settings: payloadBytes is 0 though there are runs")
	p.check(r.Settings.MetaBytes <= r.Settings.PayloadBytes, "settings: metaBytes is %d, more than payloadBytes", r.Settings.MetaBytes)
	p.check(!strings.Contains(r.Settings.Profile, "\r"), "settings: profile has a carriage return")
	seen, nodes := make(map[string]bool), make(map[string]string)
	for i, run := range r.Runs {
		where := fmt.Sprintf("runs[%d] (%s, path %s)", i, run.Scenario, run.Path)
		p.run(where, run, r.Environment.Counting)
		p.openLoop(where, run, r.Settings.Rate)
		p.check(run.Messages == r.Settings.Messages, "%s: has %d messages, the settings say %d", where, run.Messages, r.Settings.Messages)
		_, lightPeers := CutFilter(Series(run.Scenario))
		p.check(lightPeers == r.Settings.FilterPeers, "%s: has %d light peers, the settings say %d", where, lightPeers, r.Settings.FilterPeers)
		p.check(!seen[run.Scenario+"\x00"+run.Path], "%s: is there twice", where)
		seen[run.Scenario+"\x00"+run.Path] = true
		p.check(!r.Verified || run.Verified, "%s: is not verified though the result is", where)
		series, names := Series(run.Scenario)+"\x00"+run.Path, namesAndRoles(run)
		if first, known := nodes[series]; known {
			p.check(first == names, "%s: has nodes %s, an earlier run of its path %s", where, names, first)
		} else {
			nodes[series] = names
		}
	}
	for i, inv := range r.Invalid {
		where := fmt.Sprintf("invalid[%d] (%s, path %s)", i, inv.Scenario, inv.Path)
		p.name(where, inv.Scenario, inv.Path, inv.Number)
		p.check(inv.Reason != "", "%s: has no reason", where)
		p.check(!seen[inv.Scenario+"\x00"+inv.Path], "%s: is among the valid runs too", where)
	}
	p.distributions(r)
	p.check(!r.Verified || len(r.Invalid) == 0, "verified is true though %d runs are invalid", len(r.Invalid))
	if err := errors.Join(p.errs...); err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}

// namesAndRoles lists the nodes of a run, which are the same in all runs of a
// path: otherwise a node that is gone would look like work that is.
func namesAndRoles(run Run) string {
	var names []string
	for _, n := range run.Nodes {
		names = append(names, n.Name+" ("+n.Role+")")
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (p *problems) run(where string, run Run, counting bool) {
	p.name(where, run.Scenario, run.Path, run.Number)
	p.check(run.Messages > 0, "%s: messages is %d, want at least 1", where, run.Messages)
	p.check(run.WallNanos > 0, "%s: wallNanos is %d, want at least 1", where, run.WallNanos)
	p.check(run.NanosPerP50 >= 0 && run.NanosPerP99 >= 0 && run.CPUNanos >= 0, "%s: a time is negative", where)
	p.check((run.LatencyP50 == nil) == (run.LatencyP99 == nil), "%s: latency has one percentile without the other", where)
	for _, l := range []*int64{run.LatencyP50, run.LatencyP99} {
		p.check(l == nil || *l >= 0, "%s: a latency is negative", where)
	}
	p.check(len(run.Nodes) > 0, "%s: has no nodes", where)
	p.outcome(where, run)
	names := make(map[string]bool)
	for _, node := range run.Nodes {
		at := fmt.Sprintf("%s, node %q", where, node.Name)
		p.check(!names[node.Name], "%s: is there twice", at)
		names[node.Name] = true
		p.node(at, node, counting)
		p.check(node.Role != RoleAll || len(run.Nodes) == 1, "%s: has role %q but is not the only node", at, RoleAll)
	}
}

// outcome checks that a run that says it is verified says so of all messages.
func (p *problems) outcome(where string, run Run) {
	if !run.Verified {
		return
	}
	p.check(run.Published == uint64(run.Messages), "%s: is verified though %d of %d messages were published",
		where, run.Published, run.Messages)
	for _, n := range run.Nodes {
		p.check(n.Role == RolePublisher || n.Delivered == uint64(run.Messages), "%s: is verified though node %q delivered %d of %d messages",
			where, n.Name, n.Delivered, run.Messages)
	}
}

// outcome checks what a row of CSV says of a verified run. The row of several
// receivers has the sum of their deliveries.
func (row Row) outcome() error {
	if row.Verified == nil || !*row.Verified {
		return nil
	}
	var p problems
	where, messages := row.Scenario+", path "+row.Path+", role "+row.Role, float64(row.Messages)
	if n := row.Published; n != nil && row.Role != RoleReceiver {
		p.check(*n == messages, "%s: is verified though %g of %g messages were published", where, *n, messages)
	}
	if n := row.Delivered; n != nil && row.Role != RolePublisher {
		p.check(*n > 0 && math.Mod(*n, messages) == 0, "%s: is verified though %g of %g messages were delivered", where, *n, messages)
	}
	if len(p.errs) == 0 {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrInvalid, errors.Join(p.errs...))
}

func (p *problems) name(where, scenario, path string, number int) {
	p.check(path != "", "%s: has no path", where)
	p.check(number >= 1, "%s: run is %d, want at least 1", where, number)
	want := RunName(Series(scenario), number)
	p.check(scenario != "" && scenario == want, "%s: run %d of this scenario is called %q", where, number, want)
	p.check(!strings.Contains(scenario+path, "\r"), "%s: a name has a carriage return, which CSV readers drop", where)
}

func (p *problems) node(where string, node Node, counting bool) {
	p.check(node.Name != "", "%s: has no name", where)
	p.check(!strings.Contains(node.Name, "\r"), "%s: its name has a carriage return, which CSV readers drop", where)
	p.check(slices.Contains([]string{RoleAll, RolePublisher, RoleReceiver}, node.Role), "%s: role is %q", where, node.Role)
	p.check(counting || node.Sites == nil, "%s: has counts in a build that does not count", where)
	sites := make(map[string]bool)
	for _, s := range node.Sites {
		p.check(s.Site != "" && s.Site != notAvailable, "%s: a site is called %q", where, s.Site)
		p.check(!sites[s.Site], "%s: site %q is there twice", where, s.Site)
		p.check(!strings.Contains(s.Site, "\r"), "%s: site %q has a carriage return, which CSV readers drop", where, s.Site)
		sites[s.Site] = true
		for _, c := range countColumns {
			n := *c.field(&s.Counts)
			p.check(n <= mostCount, "%s: site %q: %s is %d, want at most %d", where, s.Site, c.name, n, uint64(mostCount))
		}
	}
}

// mostCount is the greatest count: beyond it float64 skips numbers, and sums of
// counts may begin again at 0.
const mostCount = 1 << 53

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
