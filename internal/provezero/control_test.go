//go:build !msgpathcounters

package provezero

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// prepared returns a proof of the node of testdata, ready for controls. Tests
// share it, since its reference is compiled once.
var prepared = sync.OnceValues(func() (*proof, error) {
	p := &proof{
		Options: Options{Dir: "../..", Node: testNode, Sites: ourSites, Arches: oneArch},
		tool:    goTool{dir: "../..", tmp: filepath.Join(shared, "prepared")},
	}
	if err := os.Mkdir(p.tool.tmp, 0o700); err != nil {
		return nil, err
	}
	return p, p.prepare(context.Background())
})

func preparedProof(t *testing.T) *proof {
	t.Helper()
	p, err := prepared()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestControlWithoutMutant: what a mutant must show is not found in the
// production build as it is, so that each row of each control can fail.
func TestControlWithoutMutant(t *testing.T) {
	p := preparedProof(t)
	for _, m := range mutants(p.called) {
		t.Run(m.name, func(t *testing.T) {
			_, want, err := p.mutate(t.Context(), m)
			if err != nil {
				t.Fatal(err)
			}
			rows, err := p.control(t.Context(), "nothing", map[string]string{}, want)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range rows {
				if alone := want.symbol == "" && strings.HasSuffix(r.check, "symbols"); r.ok != alone {
					t.Errorf("%s (%s) passes: %v, %s %v", r.check, r.arch, r.ok, r.found, r.details)
				}
			}
		})
	}
}

// TestControlEnabledAlone: a build in which only Enabled is true calls functions
// that do nothing, and must not pass for one that counts.
func TestControlEnabledAlone(t *testing.T) {
	p := preparedProof(t)
	enabled := mutant{name: "Enabled", old: "const Enabled = false", new: "const Enabled = true"}
	overlay, want, err := p.mutate(t.Context(), enabled)
	if err != nil {
		t.Fatal(err)
	}
	if want.symbol != "" || len(want.functions) > 0 {
		t.Fatalf("trace %+v, want none", want)
	}
	want.symbol = p.counters + ".events"
	rows, err := p.control(t.Context(), "Enabled", overlay, want)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		if r.ok {
			t.Errorf("%s (%s) passes: %s", r.check, r.arch, r.found)
		}
	}
}

// TestMutants: each is made of the source as it is, and leaves a trace that the
// package and not a list in this program determines.
func TestMutants(t *testing.T) {
	p := preparedProof(t)
	const pkg = "github.com/msgpath/msgpath/internal/provezero/testdata/traffic."
	for name, want := range map[string]string{
		"Decode counts":          pkg + "(*receive).Receive",
		"Copy prints, inlined":   pkg + "(*Shelf).Put " + pkg + "(*receive).Receive",
		"NewSite keeps the name": pkg + "init",
	} {
		for _, m := range mutants(p.called) {
			if m.name != name {
				continue
			}
			_, got, err := p.mutate(t.Context(), m)
			if functions := strings.Join(got.functions, " "); err != nil || functions != want {
				t.Errorf("%s: functions %s, %v, want %s", name, functions, err, want)
			}
		}
	}
	for _, m := range []mutant{{name: "no such text", old: "func Count()"}, {name: "no call", old: "func Load", new: "func Load", frees: "IDHash"}} {
		if _, _, err := p.mutate(t.Context(), m); err == nil {
			t.Errorf("mutant %q is made", m.name)
		}
	}
}

// TestMutantsOfEachFunction: whatever a node calls, there are mutants for it, made
// of text that the counters package has.
func TestMutantsOfEachFunction(t *testing.T) {
	off, err := os.ReadFile("../../counters/off.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range countingFunctions {
		made := mutants([]string{f})
		if made[0].name != f+" counts" || made[0].frees != f || made[1].frees != f {
			t.Errorf("mutants of %s: %+v", f, made)
		}
		for _, m := range made {
			if n := strings.Count(string(off), m.old); n != 1 {
				t.Errorf("mutant %q: off.go has %d times %q, want once", m.name, n, m.old)
			}
		}
	}
	if made := mutants([]string{"Hash", "Encode"}); made[0].frees != "Hash" || made[1].frees != "Encode" {
		t.Errorf("mutants of two functions: %+v", made)
	}
}

func TestFreeFile(t *testing.T) {
	const src = `package p

import c "example.org/counters"

func f(n int) {
	if c.Enabled && n > 1 {
		c.Copy(n)
	}
	if c.Enabled {
		c.Decode(n)
	}
}

func (t *T[K]) g() { _ = func() { if c.Enabled { c.Copy(1) } } }

func (t T) h() { c.Hash(1) }
`
	out, functions, err := freeFile("p.go", []byte(src), "example.org/counters", "Copy")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(functions, " "); got != "f (*T).g" {
		t.Errorf("functions %s", got)
	}
	want := strings.NewReplacer("c.Enabled && n", "true && n", "if c.Enabled { c.Copy", "if true { c.Copy").Replace(src)
	if string(out) != want {
		t.Errorf("freed\n%s\nwant\n%s", out, want)
	}
}

func TestComparisonNames(t *testing.T) {
	c := comparison{differences: []string{"p.f: instruction 1", "p.(*T).g.func1: only here", "p.h[go.shape.int]: 3 instructions"}}
	for function, want := range map[string]bool{"p.f": true, "p.(*T).g": true, "p.h": true, "p": true, "p.g": false, "p.(*T)": true, "p.": false, "p.ff": false} {
		if got := c.names(function); got != want {
			t.Errorf("names(%q) = %v", function, got)
		}
	}
}
