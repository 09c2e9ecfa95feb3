package bench

import (
	"strings"
	"testing"

	"github.com/msgpath/msgpath/counters"
)

// A node that was away, and one too slow for gossip, get everything by store-sync,
// for little more than the payloads: each message is decoded and hashed once where
// it arrives and encoded once where it is sent.
func TestRecover(t *testing.T) {
	s, err := Recover(t.Context(), RecoverOptions{Messages: 100, Runs: 1, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Validate(); err != nil {
		t.Fatal(err)
	}
	rows := s.Tables[0].Rows
	if len(rows) != 2 {
		t.Fatalf("%d rows, want 2", len(rows))
	}
	if away := rows[0]; away[1] != 100 || away[2] != uint64(0) {
		t.Errorf("away: %v, want 100 lacking and none dropped", away)
	}
	if slow := rows[1]; slow[2].(uint64) < 100 || slow[2] != uint64(slow[1].(int)) {
		t.Errorf("slow: %v, want all that is lacking dropped", slow)
	}
	for _, row := range rows {
		if ratio := row[8].(float64); ratio < 1 || ratio > 1.02 {
			t.Errorf("%v: %.4f times the floor", row, ratio)
		}
	}
	if !counters.Enabled {
		return
	}
	want := map[string][3]float64{"p2p.receive": {1, 1, 0}, "p2p.send": {0, 0, 1}}
	for _, row := range s.Tables[1].Rows {
		site := row[2].(string)
		if got := [3]float64{row[3].(float64), row[4].(float64), row[5].(float64)}; got != want[site] {
			t.Errorf("%s: %v, want %v", site, got, want[site])
		}
	}
}

func TestRecoverOptions(t *testing.T) {
	err := RecoverOptions{Messages: -1, Runs: -2, Path: "raw"}.Validate()
	for _, want := range []string{"-1 messages", "-2 runs", `"raw"`} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want it to say %q", err, want)
		}
	}
	if err := (RecoverOptions{}).Validate(); err != nil {
		t.Errorf("zero options: %v", err)
	}
}
