package budgets_test

import (
	"fmt"

	"github.com/msgpath/msgpath/bench/budgets"
	"github.com/msgpath/msgpath/verdict/gate"
)

func Example() {
	for _, name := range budgets.Names() {
		file, text, err := budgets.Read(name)
		if err != nil {
			fmt.Println(err)
			continue
		}
		budget, err := gate.Parse(file, text)
		fmt.Println(file, len(budget.Limits) > 0, err)
	}
	// Output:
	// acceptance.yaml true <nil>
	// counts.yaml true <nil>
	// memory.yaml true <nil>
}
