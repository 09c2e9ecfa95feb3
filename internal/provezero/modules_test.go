//go:build !msgpathcounters

package provezero

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// proxied is where a module proxy keeps version v0.1.0 of counters.
const (
	proxied        = "github.com/msgpath/msgpath/counters/@v"
	proxiedVersion = "v0.1.0"
)

// proxyOf writes a module proxy that has the module in the folder from, and
// returns its address.
func proxyOf(t *testing.T, from string) string {
	t.Helper()
	dir := t.TempDir()
	var archive bytes.Buffer
	z := zip.NewWriter(&archive)
	err := fs.WalkDir(os.DirFS(from), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") && path != "go.mod" {
			return err
		}
		data, err := os.ReadFile(filepath.Join(from, path))
		if err != nil {
			return err
		}
		w, err := z.Create(strings.TrimSuffix(proxied, "/@v") + "@" + proxiedVersion + "/" + path)
		if err == nil {
			_, err = w.Write(data)
		}
		return err
	})
	if err != nil || z.Close() != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile(filepath.Join(from, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"list": []byte(proxiedVersion + "\n"), proxiedVersion + ".mod": mod, proxiedVersion + ".zip": archive.Bytes(),
		proxiedVersion + ".info": []byte(`{"Version":"` + proxiedVersion + `"}`),
	} {
		writeFile(t, filepath.Join(dir, filepath.FromSlash(proxied), name), data)
	}
	return "file://" + filepath.ToSlash(dir)
}

func writeFile(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// adopter writes a module that requires counters as a proxy has it, with the
// node and the package of testdata in it.
func adopter(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	names := strings.NewReplacer("github.com/msgpath/msgpath/internal/provezero/testdata", "example.org/adopter")
	for _, name := range []string{"node/main.go", "traffic/traffic.go"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, name), []byte(names.Replace(string(data))))
	}
	mod := "module example.org/adopter\n\ngo 1.26.0\n\nrequire " + strings.TrimSuffix(proxied, "/@v") + " " + proxiedVersion + "\n"
	writeFile(t, filepath.Join(dir, "go.mod"), []byte(mod))
	return dir
}

// TestProofOfAdopter proves a node of another module, to which counters is a
// dependency in the module cache, where no overlay may replace a file. It has no
// list of sites.
func TestProofOfAdopter(t *testing.T) {
	t.Setenv("GOPROXY", proxyOf(t, "../../counters"))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOFLAGS", "-modcacherw")
	t.Setenv("GOMODCACHE", t.TempDir())
	dir := adopter(t)
	g := goTool{dir: dir}
	if _, err := g.run(t.Context(), nil, "mod", "download", "all"); err != nil {
		t.Fatal(err)
	}
	if _, err := g.run(t.Context(), nil, "mod", "tidy"); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := Prove(t.Context(), Options{Dir: dir, Node: "./node", Arches: oneArch}, &out); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
	for _, want := range []string{"code of counters", "code of traffic", "code of node", "counting: names of sites"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no row with %q\n%s", want, &out)
		}
	}
	if after, err := os.ReadFile(filepath.Join(dir, "go.mod")); err != nil || !bytes.Equal(before, after) {
		t.Errorf("go.mod was changed to\n%s%v", after, err)
	}
}
