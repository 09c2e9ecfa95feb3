package provezero

import (
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

func TestBlank(t *testing.T) {
	const body = "package p\n\nfunc f(n int) {\n\tg(n)\n}\n\nfunc g(n int) (a, b int, c []string) { return n, n, nil }\n\nfunc h()\n"
	const blanked = "package p\n\nfunc f(n int) {}\n\n\n\nfunc g(n int) (a, b int, c []string) { return *new(int), *new(int), *new([]string) }\n\nfunc h()\n"
	for _, tt := range []struct{ name, head, want string }{
		{"production", "//go:build !msgpathcounters\n\n", blanked},
		{"both builds", "// A comment.\n\n", body},
		{"other constraint", "//go:build linux\n\n", body},
	} {
		t.Run(tt.name, func(t *testing.T) {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, "p.go", tt.head+body, parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			out, err := blank(fset, file, []byte(tt.head+body))
			if got := strings.TrimPrefix(string(out), tt.head); err != nil || got != tt.want {
				t.Errorf("blank gives %v\n%s\nwant\n%s", err, got, tt.want)
			}
		})
	}
}
