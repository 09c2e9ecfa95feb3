package uncounted_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/msgpath/msgpath/internal/uncounted"
)

// A module that does not count yet.
func Example() {
	dir, err := os.MkdirTemp("", "uncounted")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{
		"go.mod":   "module example.test/relay\n\ngo 1.26\n",
		"relay.go": "package relay\n\nimport \"crypto/sha256\"\n\nfunc ID(data []byte) [32]byte {\n\treturn sha256.Sum256(data)\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			panic(err)
		}
	}
	report, err := uncounted.Examine(context.Background(), uncounted.Options{Dir: dir})
	if err != nil {
		panic(err)
	}
	fmt.Println(report.Summary())
	for _, f := range report.Findings {
		fmt.Println(f.Place, f.Event, f.What, f.In)
	}
	// Output:
	// 1 finding in 1 package
	// relay.go:6:9 hash sha256.Sum256 ID
}
