package diff

import (
	"math"

	"github.com/msgpath/msgpath/verdict"
)

// ledger knows how totals follow from what they are made of.
type ledger struct{ rows map[key]*compared }

func newLedger(rows []*compared) ledger {
	x := ledger{rows: make(map[key]*compared, len(rows))}
	for _, r := range rows {
		x.rows[key{r.Place(), r.Unit}] = r
	}
	return x
}

// contribution returns by how much a row changes the total it is part of.
func (r *compared) contribution() float64 {
	switch {
	case r.Answer == Missing && r.after == nil && r.Row.Before.Max != nil:
		return -*r.Row.Before.Max
	case (r.Answer == New || r.Answer == Appeared && r.before == nil) && r.Row.After.Max != nil:
		return *r.Row.After.Max
	case r.Delta != nil:
		return *r.Delta
	}
	return 0
}

// explained reports whether a total changed only because its parts did: of a node
// its sites, of roles the nodes, of all roles the nodes or the roles.
func (x ledger) explained(r *compared) bool {
	if r.Site != "" {
		return false
	}
	level := levelOf(key{r.Place(), r.Unit}).of
	if level == levelNode {
		return x.follows(r, func(k key) bool { return k.Node == r.Node && k.Site != "" })
	}
	all, ok := x.rows[key{verdict.Place{Scenario: r.Scenario, Path: r.Path, Node: verdict.RoleAll}, r.Unit}]
	if !ok {
		return false
	}
	if x.follows(all, func(k key) bool { return levelOf(k).of == levelNode }) {
		return true
	}
	if level == levelAll {
		return x.follows(r, func(k key) bool { return levelOf(k).of == levelRole }) ||
			x.follows(r, func(k key) bool { return k.Node == verdict.RoleAll && k.Site != "" })
	}
	return false
}

// follows reports whether rows of the same scenario, path and unit add up to the
// change of a total, at least one of them having changed.
func (x ledger) follows(total *compared, part func(key) bool) bool {
	var sum float64
	changed := false
	for k, r := range x.rows {
		if k.Scenario != total.Scenario || k.Path != total.Path || k.unit != total.Unit || !part(k) {
			continue
		}
		sum += r.contribution()
		changed = changed || r.contribution() != 0
	}
	slack := 1e-6*math.Abs(sum) + 2*(total.rounding()+1e-9)
	return changed && math.Abs(sum-total.contribution()) <= slack
}

func (r *compared) rounding() (sum float64) {
	for _, s := range []*samples{r.before, r.after} {
		if s != nil {
			sum += s.rounding
		}
	}
	return sum
}

// rose reports whether the total of a site's node rose.
func (x ledger) rose(site *compared) bool {
	node, ok := x.rows[key{nodeOf(site.Place()), site.Unit}]
	return ok && node.Fails == exitWorse
}
