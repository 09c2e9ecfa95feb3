//go:build !msgpathcounters

package provezero

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// All tests that compile are made in one build: what they compile is chosen by
// flags of the go command, not by the tags of the tests. One architecture does
// where the second would show the same; TestProof takes both.
var oneArch = []string{"amd64"}

// shared is a directory for what several tests use.
var shared string

func TestMain(m *testing.M) {
	var err error
	if shared, err = os.MkdirTemp("", "provezero"); err != nil {
		panic(err)
	}
	code := m.Run()
	_ = os.RemoveAll(shared)
	os.Exit(code)
}

const (
	testNode = "./internal/provezero/testdata/node"
	traffic  = "./internal/provezero/testdata/traffic"
	early    = "./internal/provezero/testdata/early"
	ourSites = "internal/provezero/testdata/sites.txt"
)

// runProve proves a node of testdata, with options changed by change.
func runProve(t *testing.T, change func(*Options)) (code int, stdout, stderr string) {
	t.Helper()
	o := Options{Dir: "../..", Node: testNode, Sites: ourSites}
	change(&o)
	var out bytes.Buffer
	err := Prove(t.Context(), o, &out)
	code = ExitCode(err)
	t.Logf("exit %d: %v\n%s", code, err, &out)
	return code, out.String(), fmt.Sprint(err)
}

// TestProof proves a program right that counts in every form, on both
// architectures and with all controls.
func TestProof(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "summary.txt")
	code, out, _ := runProve(t, func(o *Options) { o.Summary = file })
	if code != exitOK || strings.Contains(out, "FAIL") {
		t.Errorf("exit %d, want %d", code, exitOK)
	}
	for _, want := range []string{
		"amd64", "arm64", "code of counters", "code of internal/provezero/testdata/node", "code of internal/provezero/testdata/traffic",
		"mutant, Decode counts: code", "mutant, Copy prints, inlined: code", "mutant, NewSite keeps the name: names of sites",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no row with %q", want)
		}
	}
	summary, err := os.ReadFile(file)
	if err != nil || !strings.HasPrefix(string(summary), "21 of 21 checks") {
		t.Errorf("summary %q, %v", summary, err)
	}
}

// TestProofFails: what leaves a trace is found and named.
func TestProofFails(t *testing.T) {
	t.Parallel()
	code, out, _ := runProve(t, func(o *Options) {
		o.CodeOnly, o.Arches, o.Packages = true, oneArch, []string{traffic, early}
	})
	if code != exitFailed {
		t.Errorf("exit %d, want %d", code, exitFailed)
	}
	for _, want := range []string{"early.(*Queue).Add: instruction 1", "early.Padded"} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is not named", want)
		}
	}
	if strings.Contains(out, "traffic.(") {
		t.Error("traffic is named, which is right")
	}
}

func TestProofRefuses(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(*Options)
		code   int
		want   string
	}{
		{"no package that counts", func(o *Options) { o.CodeOnly, o.Packages = true, []string{"./internal/provezero/sitelist"} }, exitNothing, "none of"},
		{"a choice of packages", func(o *Options) { o.Packages = []string{traffic} }, exitUsage, "needs --code"},
		{"a summary of code alone", func(o *Options) { o.CodeOnly, o.Summary = true, "none.txt" }, exitUsage, "no proof"},
		{"architecture", func(o *Options) { o.Arches = []string{"mips"} }, exitUsage, `"mips"`},
		{"no node", func(o *Options) { o.Node = "" }, exitUsage, "no main package"},
		{"no such node", func(o *Options) { o.Node = "./cmd/none" }, exitUsage, "cmd/none"},
		{"no site", func(o *Options) { o.Node = "./internal/provezero/sitelist" }, exitNothing, "links no site"},
		{"site not in the list", func(o *Options) { o.Sites = "internal/provezero/testdata/few.txt" }, exitFailed, "site traffic.send is not in"},
		{"no list", func(o *Options) { o.Sites = "none.txt" }, exitUsage, "none.txt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if code, _, errs := runProve(t, tt.change); code != tt.code || !strings.Contains(errs, tt.want) {
				t.Errorf("exit %d, error %q; want %d, %q", code, errs, tt.code, tt.want)
			}
		})
	}
}

// TestProofStripped: a program without symbols proves nothing.
func TestProofStripped(t *testing.T) {
	p := *preparedProof(t)
	p.LDFlags = "-s -w"
	if rows, err := p.production(t.Context()); !errors.Is(err, errStripped) || ExitCode(err) != exitFailed || len(rows) > 0 {
		t.Errorf("rows %v, error %v, want %v", rows, err, errStripped)
	}
}

// TestProofEnds: a context that is over ends the proof, and is told apart.
func TestProofEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Prove(ctx, Options{Dir: "../..", Node: testNode}, io.Discard); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
}

// TestSiteNames: the names of functions and types are not those of sites.
func TestSiteNames(t *testing.T) {
	tool := goTool{dir: "../..", tmp: t.TempDir()}
	path, err := tool.link(t.Context(), build{}, testNode, "node")
	if err != nil {
		t.Fatal(err)
	}
	x, err := openExecutable(path)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// A function, a type, and literals of the program and of the runtime.
	for name, want := range map[string]bool{
		"traffic.(*receive)":           false,
		"traffic.Message":              false,
		"traffic: nothing\nto receive": true,
		"all goroutines are asleep":    true,
	} {
		if !bytes.Contains(data, []byte(name)) {
			t.Errorf("%q is not in the file at all", name)
		}
		if got := len(x.siteNames([]string{name}).found) == 1; got != want {
			t.Errorf("%q among the literals: %v, want %v", name, got, want)
		}
	}
	if _, err := openExecutable("proof_test.go"); err == nil || errors.Is(err, errStripped) {
		t.Errorf("a text file: %v", err)
	}
}
