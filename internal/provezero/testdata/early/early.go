// Package early holds what does leave a trace in production.
package early

import "github.com/msgpath/msgpath/counters"

var siteEarly = counters.NewSite("early.early")

// A Queue counts too early.
type Queue struct {
	n      int
	counts counters.Set
	last   int
}

// Add counts before q is used: one nil check stays.
func (q *Queue) Add(n int) {
	counters.Decode(q.counts, siteEarly, n)
	if n > 0 {
		q.last = n
	}
}

// Len does not count.
func (q *Queue) Len() int { return q.n }

// A Padded ends with a field of no size: a word of padding stays. It holds no
// Set, because fields of that type stay in the reference too.
type Padded struct {
	n    int
	site counters.Site
}

// Copy copies p with its padding.
func (p *Padded) Copy() *Padded {
	q := *p
	return &q
}
