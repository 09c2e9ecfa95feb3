//go:build msgpathcounters

package lint

import (
	"slices"
	"testing"

	_ "github.com/msgpath/msgpath/archive"
	_ "github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/counters"
	_ "github.com/msgpath/msgpath/filter"
	"github.com/msgpath/msgpath/internal/provezero/sitelist"
	_ "github.com/msgpath/msgpath/relay"
	_ "github.com/msgpath/msgpath/storesync"
)

// TestDeclaredSites compares the committed list with the sites that exist when
// the program runs. A package with sites must be imported above.
func TestDeclaredSites(t *testing.T) {
	listed, err := sitelist.Read(sitesFile)
	if err != nil {
		t.Fatal(err)
	}
	if declared := counters.Sites(); !slices.Equal(declared, listed) {
		t.Errorf("declared at run time\n\t%v\n%s lists\n\t%v", declared, sitesFile, listed)
	}
}
