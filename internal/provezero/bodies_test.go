//go:build !msgpathcounters

package provezero

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// otherModule writes a module with the counters package, the node and the
// package of testdata, after edits of the named files.
func otherModule(t *testing.T, edits map[string][2]string) string {
	t.Helper()
	dir := t.TempDir()
	const path = "example.org/other"
	names := strings.NewReplacer(
		"github.com/msgpath/msgpath/counters", path+"/counters",
		"github.com/msgpath/msgpath/internal/provezero/testdata", path)
	write := func(name string, data []byte) {
		if e, ok := edits[name]; ok {
			if bytes.Count(data, []byte(e[0])) != 1 {
				t.Fatalf("%s does not hold %q once", name, e[0])
			}
			data = bytes.Replace(data, []byte(e[0]), []byte(e[1]), 1)
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, []byte(names.Replace(string(data))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", []byte("module "+path+"\n\ngo 1.26\n"))
	for _, from := range []string{"../../counters/counters.go", "../../counters/off.go", "../../counters/on.go", "../../counters/lines.go", "testdata/node/main.go", "testdata/traffic/traffic.go", "testdata/sites.txt"} {
		data, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		write(strings.TrimPrefix(strings.TrimPrefix(from, "../../"), "testdata/"), data)
	}
	return dir
}

// TestProductionDoesSomething: in a module whose production functions have
// bodies, inlined so that they leave no symbol, the code tells. Nothing of it is
// made by a mutant.
func TestProductionDoesSomething(t *testing.T) {
	const (
		counting = "traffic.(*Shelf).Put: "
		body     = `{ if n > 1<<20 { println("copied", n) } }`
	)
	copies := [2]string{"func Copy(Set, Site, int) {}", "func Copy(_ Set, _ Site, n int) " + body}
	unguarded := [2]string{"\tif counters.Enabled {\n\t\tcounters.Copy(m.counts, siteStore, int(m.sum))\n\t}\n", "\tcounters.Copy(m.counts, siteStore, int(m.sum))\n"}
	for _, tt := range []struct {
		name  string
		edits map[string][2]string
		code  int
		want  []string
	}{
		{"as it is", nil, exitOK, nil},
		{"body", map[string][2]string{"counters/off.go": copies}, exitFailed, []string{"counters.Copy: "}},
		{"body and call", map[string][2]string{"counters/off.go": copies, "traffic/traffic.go": unguarded}, exitFailed, []string{"counters.Copy: ", counting}},
		{"a function with a result", map[string][2]string{"counters/off.go": {"func New() Set { return", "func New() Set { println(); return"}}, exitFailed, []string{"counters.New: "}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			err := Prove(t.Context(), Options{Dir: otherModule(t, tt.edits), Node: "./node", Sites: "sites.txt", CodeOnly: true, Arches: oneArch}, &out)
			if code := ExitCode(err); code != tt.code {
				t.Errorf("exit %d, want %d: %v\n%s", code, tt.code, err, &out)
			}
			for _, want := range tt.want {
				if n := strings.Count(out.String(), want); n != 1 {
					t.Errorf("%q is named %d times, want once\n%s", want, n, &out)
				}
			}
		})
	}
}

// TestSizeAboveZero: a Set or a Site with a size is found by the compiler.
func TestSizeAboveZero(t *testing.T) {
	for name, edit := range map[string][2]string{
		"Set":  {"type Set struct{}", "type Set struct{ n int }"},
		"Site": {"type Site struct{}", "type Site struct{ n uint8 }"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := proof{
				Options: Options{Node: "./node", Arches: oneArch},
				tool:    goTool{dir: otherModule(t, map[string][2]string{"counters/off.go": edit}), tmp: t.TempDir()},
			}
			if err := p.prepare(t.Context()); err != nil {
				t.Fatal(err)
			}
			rows, err := p.sizes(t.Context())
			if err != nil || len(rows) != 1 || rows[0].ok || !strings.Contains(strings.Join(rows[0].details, "\n"), name+"{}") {
				t.Errorf("sizes = %+v, %v", rows, err)
			}
		})
	}
}
