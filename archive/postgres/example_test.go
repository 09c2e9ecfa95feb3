package postgres_test

import (
	"fmt"

	"github.com/msgpath/msgpath/archive/postgres"
)

func ExampleCheck() {
	fmt.Println(postgres.Check("postgres://app:secret@localhost/messages"))
	fmt.Println(postgres.Check("postgres://app:secret/messages"))
	// Output:
	// <nil>
	// invalid port (the value is not shown: it may be the password)
}
