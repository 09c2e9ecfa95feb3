//go:build msgpathcounters

package counters

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"
)

// withSites runs f with the declared sites put back afterwards.
func withSites(f func()) {
	before := slices.Clone(declared.names)
	defer func() { declared.names = before }()
	f()
}

// panicOf returns what f panicked with, "" if it did not.
func panicOf(f func()) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint(p)
		}
	}()
	f()
	return ""
}

func TestNewSiteRefusesNames(t *testing.T) {
	for _, name := range []string{
		"", ".", "site", "pkg.", ".site", "pkg.site.more", "pkg.a b", "pkg.a,b", "pkg.\"a\"", "pkg.a\n", "pkg.é", "?",
	} {
		withSites(func() {
			got := panicOf(func() { NewSite(name) })
			if !strings.Contains(got, fmt.Sprintf("%q", name)) || !strings.Contains(got, "package.site") {
				t.Errorf("NewSite(%q): panic %q, want one that names it and the form", name, got)
			}
		})
	}
	for _, name := range []string{"relay.on_recv", "storesync/p2p.transfer", "a-b.Site2"} {
		withSites(func() {
			if got := panicOf(func() { NewSite(name) }); got != "" {
				t.Errorf("NewSite(%q): panic %q", name, got)
			}
		})
	}
}

func TestNewSiteRefusesDuplicates(t *testing.T) {
	withSites(func() {
		NewSite("on_test.same")
		if got := panicOf(func() { NewSite("on_test.same") }); !strings.Contains(got, `"on_test.same": declared twice`) {
			t.Errorf("panic %q", got)
		}
		if other := NewSite("on_test.other"); declared.names[other.index-1] != "on_test.other" {
			t.Error("a site after a refused one has another's index")
		}
	})
}

func TestNewSiteBound(t *testing.T) {
	withSites(func() {
		var last Site
		for len(declared.names) < maxSites-1 {
			last = NewSite(fmt.Sprintf("on_test.site%d", len(declared.names)))
		}
		if got := panicOf(func() { NewSite("on_test.over") }); !strings.Contains(got, "more than 127 sites") {
			t.Errorf("panic %q", got)
		}
		set := New()
		Decode(set, last, 5)
		want := SiteCounts{Site: fmt.Sprintf("on_test.site%d", maxSites-2), Counts: Counts{Decodes: 1, DecodedBytes: 5}}
		if got := Load(set); len(got) != 1 || got[0] != want {
			t.Errorf("the last site has %+v, want %+v", got, want)
		}
	})
}

func TestSizes(t *testing.T) {
	if got := unsafe.Sizeof(Set{}); got != unsafe.Sizeof(uintptr(0)) {
		t.Errorf("a Set is %d bytes, want one word", got)
	}
	if got := unsafe.Sizeof(Site{}); got != 1 {
		t.Errorf("a Site is %d bytes, want 1", got)
	}
	if !Enabled {
		t.Error("not Enabled in a build with the tag")
	}
}

func TestPackageOf(t *testing.T) {
	for function, want := range map[string]string{
		"main.init":                             "main",
		"example.org/a/relay.(*Node).Run.func1": "example.org/a/relay",
		"go.yaml.in/yaml%2ev4.Decode":           "go.yaml.in/yaml.v4",
		"example.org/m.Map[...]":                "example.org/m",
	} {
		if got := packageOf(function); got != want {
			t.Errorf("package of %s is %s, want %s", function, got, want)
		}
	}
}

// An event whose caller is gone has no line rather than one of the runtime.
func TestLineOfAGoStatement(t *testing.T) {
	set := New()
	go Decode(set, Site{}, 1)
	for len(Load(set)) == 0 {
		runtime.Gosched()
	}
	if got := Lines(set); got != nil {
		t.Errorf("lines are %v, want none", got)
	}
}
