package lint

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/internal/golden"
	"github.com/msgpath/msgpath/internal/provezero/sitelist"
)

const (
	sitesFile  = "sites.txt"
	sitesTitle = "# The counter sites of the project. Written by: go test ./internal/lint -run TestSites -update\n"
)

// TestSites compares the committed list with what source declares, whatever the
// build's tags, so that no site appears or vanishes unnoticed.
func TestSites(t *testing.T) {
	decls, err := sitelist.Scan(root, module+"/counters")
	if err != nil {
		t.Fatal(err)
	}
	checkDeclarations(t, decls)
	declared := sitelist.Names(decls)
	if *golden.Update {
		text := sitesTitle + strings.Join(declared, "\n") + "\n"
		if err := os.WriteFile(sitesFile, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	listed, err := sitelist.Read(sitesFile)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(declared, listed) {
		t.Errorf("source declares\n\t%v\n%s lists\n\t%v\nafter a change that is meant, run with -update", declared, sitesFile, listed)
	}
}

// checkDeclarations: a site is named after the package that declares it, and
// declared once.
func checkDeclarations(t *testing.T, decls []sitelist.Declaration) {
	t.Helper()
	if len(decls) == 0 {
		t.Error("source declares no site")
	}
	at := make(map[string]string)
	for _, d := range decls {
		if !strings.HasPrefix(d.Name, d.Package+".") {
			t.Errorf("%s: site %q is declared by package %s", d.Position, d.Name, d.Package)
		}
		if other, twice := at[d.Name]; twice {
			t.Errorf("%s: site %q is declared at %s too", d.Position, d.Name, other)
		}
		at[d.Name] = d.Position.String()
	}
}
