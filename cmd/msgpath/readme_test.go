package main

import (
	"bytes"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/msgpath/msgpath/internal/golden"
)

// shown is a command in a document, its exit code, and what it prints:
//
//	<!-- msgpath diff a b: 1 -->
//	```
//	…
//	```
var shown = regexp.MustCompile("(?s)<!-- msgpath ([^\n]*): ([0-9]+) -->\n```\n(.*?)```\n")

// What the README shows is what the commands print. They run at the top of the
// repository.
func TestReadmeShowsWhatCommandsPrint(t *testing.T) {
	t.Chdir("../..")
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := shown.FindAllSubmatch(readme, -1)
	if len(blocks) < 3 {
		t.Fatalf("%d commands are shown, want a diff and a gate that fails and one that passes", len(blocks))
	}
	fixed := shown.ReplaceAllFunc(readme, func(block []byte) []byte {
		parts := shown.FindSubmatch(block)
		command := string(parts[1])
		var stdout, stderr bytes.Buffer
		code := run(t.Context(), strings.Fields(command), &stdout, &stderr)
		if want, _ := strconv.Atoi(string(parts[2])); code != want {
			t.Errorf("msgpath %s: exit code %d, want %d: %s", command, code, want, stderr.Bytes())
		}
		if diff := cmp.Diff(string(parts[3]), stdout.String()); diff != "" && !*golden.Update {
			t.Errorf("msgpath %s prints something else (-README +now); to rewrite: go test ./cmd/msgpath -run Readme -update\n%s", command, diff)
		}
		return []byte("<!-- msgpath " + command + ": " + string(parts[2]) + " -->\n```\n" + stdout.String() + "```\n")
	})
	if *golden.Update {
		if err := os.WriteFile("README.md", fixed, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}
