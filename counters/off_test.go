//go:build !msgpathcounters

package counters_test

import (
	"testing"
	"unsafe"

	"github.com/msgpath/msgpath/counters"
)

// A production build carries nothing.
func TestNoSize(t *testing.T) {
	type node struct {
		counters.Set
		counters.Site
		Messages uint64
	}
	for name, size := range map[string]uintptr{
		"Set":                          unsafe.Sizeof(counters.Set{}),
		"Site":                         unsafe.Sizeof(counters.Site{}),
		"the Set and Site of a struct": unsafe.Sizeof(node{}) - unsafe.Sizeof(uint64(0)),
	} {
		if size != 0 {
			t.Errorf("%s: %d bytes, want 0", name, size)
		}
	}
	if counters.Enabled {
		t.Error("Enabled in a build without the tag")
	}
}

// Names are not looked at: nothing may keep them in the binary.
func TestNewSiteKeepsNothing(t *testing.T) {
	counters.NewSite("no form")
	counters.NewSite("counters_test.a")
	if got := counters.Sites(); got != nil {
		t.Errorf("sites %q, want none", got)
	}
}

func TestLabelDoesNothing(t *testing.T) {
	counters.Labelling(true)
	counters.Name(counters.New(), "B")
	counters.Label(counters.New(), counters.Site{}).End()
	counters.Labelling(false)
}
