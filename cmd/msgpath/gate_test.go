package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/verdict"
)

// gateRun returns a result of one run of two messages, each decoded once.
func gateRun() verdict.Result {
	return verdict.Result{
		Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion, Verified: true,
		Environment: verdict.Environment{Counting: true, Sites: []string{"relay.handler", "relay.validator"}},
		Settings:    verdict.Settings{Messages: 2, PayloadBytes: 2000, Profile: "1kB@100"},
		Runs: []verdict.Run{{
			Scenario: "micro_run1", Path: "zerocopy", Number: 1, Messages: 2, WallNanos: 1, Published: 2, Verified: true,
			Nodes: []verdict.Node{{Name: "node", Role: verdict.RoleAll, Delivered: 2, Sites: []counters.SiteCounts{
				{Site: "relay.validator", Counts: counters.Counts{Decodes: 2, DecodedBytes: 2100}},
			}}},
		}},
	}
}

// TestGateExitCodes ends the process of each command line as documented.
func TestGateExitCodes(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	writeRun := func(name string, change func(*verdict.Result)) []byte {
		r := gateRun()
		change(&r)
		var text bytes.Buffer
		if err := verdict.WriteJSON(&text, r); err != nil {
			t.Fatal(err)
		}
		write(name, text.Bytes())
		return text.Bytes()
	}
	good := writeRun("good.json", func(*verdict.Result) {})
	writeRun("more.json", func(r *verdict.Result) { r.Runs[0].Nodes[0].Sites[0].Decodes = 4 })
	writeRun("nothing.json", func(r *verdict.Result) { r.Runs[0].Nodes[0].Sites = []counters.SiteCounts{} })
	writeRun("untagged.json", func(r *verdict.Result) {
		r.Environment.Counting, r.Environment.Sites, r.Runs[0].Nodes[0].Sites = false, nil, nil
	})
	writeRun("lost.json", func(r *verdict.Result) {
		r.Verified, r.Invalid = false, []verdict.Invalid{{Scenario: "micro_run2", Path: "zerocopy", Number: 2, Reason: "1 of 2 messages was lost"}}
	})
	write("impossible.json", bytes.Replace(good, []byte(`"messages": 2`), []byte(`"messages": 3`), 1))
	write("cut.json", good[:len(good)/2])
	write("once.yaml", []byte("version: 1\nlimits: [{site: relay.validator, metric: decodes/msg, hard: {equal: 1}, change: {max: 0}}]\n"))
	write("most.yaml", []byte("version: 1\nlimits: [{metric: decodes/msg, hard: {max: 100}}]\n"))
	write("soft.yaml", []byte("version: 1\nlimits: [{metric: decodes/msg, soft: {max: 0}}]\n"))
	write("nowhere.yaml", []byte("version: 1\nlimits: [{path: raw, metric: decodes/msg, hard: {max: 100}}]\n"))
	write("wrong.yaml", []byte("version: 1\nlimit: 3\n"))

	for args, want := range map[string]int{
		"gate --budget once.yaml --base good.json good.json":       0,
		"gate --budget once.yaml --base good.json more.json":       1,
		"gate --budget once.yaml good.json":                        2,
		"gate --budget most.yaml good.json":                        0,
		"gate --budget soft.yaml good.json":                        0,
		"gate --strict --budget soft.yaml good.json":               1,
		"gate --budget wrong.yaml good.json":                       2,
		"gate --budget most.yaml cut.json":                         2,
		"gate --budget most.yaml nosuch.json":                      2,
		"gate --budget most.yaml good.json good.json":              2,
		"gate --budget most.yaml impossible.json":                  3,
		"gate --budget most.yaml --base impossible.json good.json": 3,
		"gate --budget most.yaml nothing.json":                     3,
		"gate --budget most.yaml untagged.json":                    3,
		"gate --budget most.yaml lost.json":                        3,
		"gate --budget nowhere.yaml lost.json":                     3,
		"gate --budget nowhere.yaml good.json":                     4,
		"gate --budget nowhere.yaml most.yaml good.json":           4,
		"gate ratchet --dry-run --budget most.yaml good.json":      0,
		"gate ratchet --dry-run --budget most.yaml lost.json":      3,
		"gate ratchet --dry-run --budget most.yaml cut.json":       2,
		"gate ratchet --dry-run --budget nowhere.yaml good.json":   4,
		"gate ratchet --margin=100 --budget most.yaml good.json":   2,
		"gate ratchet --budget wrong.yaml good.json":               2,
		"gate ratchet good.json":                                   2,
		"gate --budget acceptance good.json":                       4,
		"gate --budget nosuch good.json":                           2,
		"gate --help":                                              0,
	} {
		words := strings.Fields(args)
		for i, w := range words {
			if strings.Contains(w, ".") {
				words[i] = filepath.Join(dir, w)
			}
		}
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), words, &stdout, &stderr); code != want {
			t.Errorf("%s: exit code %d, want %d\n%s%s", args, code, want, &stdout, &stderr)
		}
	}
}
