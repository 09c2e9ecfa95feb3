package provezero_test

import (
	"fmt"

	"github.com/msgpath/msgpath/internal/provezero"
)

func ExampleOptions_Validate() {
	o := provezero.Options{Node: "./cmd/relaynode", Packages: []string{"./relay"}}
	err := o.Validate()
	fmt.Println(err)
	fmt.Println("exit code", provezero.ExitCode(err))
	// Output:
	// provezero: wrong usage: a choice of packages proves nothing: it needs --code
	// exit code 2
}
