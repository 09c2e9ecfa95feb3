package bench

import (
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/study"
)

// recoverResult is what Recover measured.
type recoverResult struct {
	runs []recoverRun
}

func (r recoverResult) study(environment verdict.Environment) study.Study {
	s := study.Study{
		Name:  "recover",
		Title: "What it costs a node to get what gossip did not bring it",
		About: []string{
			"Three nodes with SQLite files, on loopback TCP: A publishes, B stores everything, and C lacks some. Away: C has stopped while the messages passed, and has started again. Slow subscriber: C's application stood still while they passed, so that gossipsub dropped what its queues could not hold; its archive commits one message at a time, which bounds its speed afterwards too. " +
				"Then C syncs with B. Fetched is the time from the start of the first session to the end of the last; stored, until C's application was given the last message, after its commit. " +
				"Afterwards all three archives and sync sets were found to hold exactly what was published, each message under the hash recomputed from it.",
			"Bytes are those of the protocol's streams, both directions, before encryption. The floor is the payloads that C lacked.",
		},
		Tables:      []study.Table{r.costs()},
		Notes:       []string{"All nodes share one process and its processors. Times of other machines, and beside other work, differ; bytes and counts do not."},
		Environment: environment,
	}
	if counters.Enabled {
		s.Tables = append(s.Tables, r.sites())
	} else {
		s.Notes = append(s.Notes, "This build does not count what each site did.")
	}
	return s
}

func (r recoverResult) costs() study.Table {
	t := study.Table{Title: "Recovery", Columns: []study.Column{
		{Name: "scenario"},
		{Name: "lacking"},
		{Name: "dropped by gossip"},
		{Name: "sessions"},
		{Name: "rounds"},
		{Name: "floor, bytes"},
		{Name: "received, bytes"},
		{Name: "sent, bytes"},
		{Name: "all / floor", Digits: 4},
		{Name: "fetched, ms", Digits: 1},
		{Name: "stored, ms", Digits: 1},
		{Name: "MB/s", Digits: 1},
	}}
	for _, m := range r.runs {
		all := m.report.BytesIn + m.report.BytesOut
		t.Rows = append(t.Rows, study.Row{
			m.scenario, m.messages, m.dropped, m.sessions, m.report.Rounds,
			m.floor, m.report.BytesIn, m.report.BytesOut, float64(all) / float64(m.floor),
			ms(m.fetched.Nanoseconds()), ms(m.stored.Nanoseconds()), float64(m.floor) / 1e6 / m.stored.Seconds(),
		})
	}
	return t
}

// sites returns what each site did in the first run of each scenario.
func (r recoverResult) sites() study.Table {
	t := study.Table{Title: "Events by site, a message recovered, of the first run", Columns: []study.Column{
		{Name: "scenario"}, {Name: "node"}, {Name: "site"}, {Name: "decodes", Digits: 3}, {Name: "hashes", Digits: 3}, {Name: "encodes", Digits: 3}, {Name: "copies", Digits: 3},
	}}
	seen := make(map[string]bool)
	for _, m := range r.runs {
		if seen[m.scenario] {
			continue
		}
		seen[m.scenario] = true
		each := func(n uint64) float64 { return float64(n) / float64(m.messages) }
		for i, node := range [][]counters.SiteCounts{m.sent, m.came} {
			for _, s := range node {
				t.Rows = append(t.Rows, study.Row{m.scenario, "BC"[i : i+1], s.Site, each(s.Decodes), each(s.Hashes), each(s.Encodes), each(s.Copies)})
			}
		}
	}
	return t
}
