//go:build !msgpathcounters

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	testNode = "./internal/provezero/testdata/node"
	traffic  = "./internal/provezero/testdata/traffic"
	early    = "./internal/provezero/testdata/early"
	ourSites = "internal/provezero/testdata/sites.txt"
)

// runProve runs the command on a node and packages of testdata.
func runProve(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	args = append([]string{"-C", "../..", "-node", testNode, "-sites", ourSites}, args...)
	code = run(t.Context(), args, &out, &errs)
	t.Logf("exit %d\n%s%s", code, &out, &errs)
	return code, out.String(), errs.String()
}

// TestProof proves a program right that counts in every form, on both
// architectures and with all controls.
func TestProof(t *testing.T) {
	file := filepath.Join(t.TempDir(), "summary.txt")
	code, out, _ := runProve(t, "-summary", file)
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
	code, out, _ := runProve(t, "-code", "-arch", "amd64", "-packages", traffic+","+early)
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
		name string
		args []string
		code int
		want string
	}{
		{"stripped", []string{"-ldflags=-s -w", "-arch", "amd64"}, exitFailed, errStripped.Error()},
		{"no package that counts", []string{"-code", "-packages", "./verdict/../internal/provezero/sitelist"}, exitNothing, "none of"},
		{"a choice of packages", []string{"-packages", traffic}, exitUsage, "needs -code"},
		{"a summary of code alone", []string{"-code", "-summary", "none.txt"}, exitUsage, "no proof"},
		{"no site", []string{"-node", "./internal/provezero/sitelist"}, exitNothing, "links no site"},
		{"site not in the list", []string{"-sites", "internal/provezero/testdata/few.txt"}, exitFailed, "site traffic.send is not in"},
		{"no list", []string{"-sites", "none.txt"}, exitFailed, "none.txt"},
		{"argument", []string{"what"}, exitUsage, `unexpected argument "what"`},
		{"flag", []string{"-what"}, exitUsage, "-what"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if code, _, errs := runProve(t, tt.args...); code != tt.code || !strings.Contains(errs, tt.want) {
				t.Errorf("exit %d, stderr %q; want %d, %q", code, errs, tt.code, tt.want)
			}
		})
	}
	if code := run(t.Context(), []string{"overhead", "-pairs", "3"}, new(bytes.Buffer), new(bytes.Buffer)); code != exitUsage {
		t.Errorf("3 pairs: exit %d, want %d", code, exitUsage)
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
