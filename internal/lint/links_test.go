package lint

import (
	"fmt"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func isMarkdown(name string) bool { return strings.HasSuffix(name, ".md") }

var (
	codeSpan = regexp.MustCompile("`[^`]*`")
	link     = regexp.MustCompile(`\]\(<?([^)>\s]+)[^)]*\)|^ {0,3}\[[^\]^]+\]:\s+<?([^>\s]+)`)
)

// deadLinks returns what is wrong with the relative links in text, which stands
// in the file name: each must lead to one of the tracked files, or a directory
// with one.
func deadLinks(name, text string, tracked []string) (errs []error) {
	fenced := false
	for i, line := range strings.Split(text, "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "code"), -1) {
			if err := checkLink(name, m[1]+m[2], tracked); err != nil {
				errs = append(errs, fmt.Errorf("%s:%d: %w", name, i+1, err))
			}
		}
	}
	return errs
}

func checkLink(name, target string, tracked []string) error {
	u, err := url.Parse(target)
	if err != nil {
		return fmt.Errorf("link: %w", err)
	}
	if u.IsAbs() || u.Host != "" || u.Path == "" {
		return nil
	}
	to := path.Join(path.Dir(name), u.Path)
	if !slices.ContainsFunc(tracked, func(f string) bool { return f == to || to == "." || strings.HasPrefix(f, to+"/") }) {
		return fmt.Errorf("link to %s: no such file in the tree", target)
	}
	return nil
}

// TestLinks looks at all texts but those that are test data.
func TestLinks(t *testing.T) {
	files := tracked(t)
	looked := 0
	for _, name := range files {
		if !isMarkdown(name) || strings.Contains(name, "testdata/") && path.Base(name) != "README.md" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		looked++
		for _, err := range deadLinks(name, string(data), files) {
			t.Error(err)
		}
	}
	if looked == 0 {
		t.Error("no text was looked at")
	}
}

func TestDeadLinks(t *testing.T) {
	files := []string{"README.md", "docs/a.md", "docs/decisions/1.md"}
	for _, tt := range []struct {
		name, text string
		want       int
	}{
		{"README.md", "[a](docs/a.md), [all](docs/decisions/), [here](#part), [web](https://example.org/x.md)", 0},
		{"README.md", "[b](docs/b.md) and [c](c.md)", 2},
		{"docs/a.md", "[up](../README.md#part) [one](decisions/1.md \"title\") [.](./)", 0},
		{"docs/a.md", "[one](docs/decisions/1.md)", 1},
		{"docs/a.md", "[out](../../x.md)", 1},
		{"docs/a.md", "[one]: decisions/1.md\n[two]: decisions/2.md", 1},
		{"docs/a.md", "```\n[x](x.md)\n```\n`[x](x.md)` [`code`](x.md)", 1},
	} {
		if errs := deadLinks(tt.name, tt.text, files); len(errs) != tt.want {
			t.Errorf("deadLinks(%s, %q) = %v, want %d", tt.name, tt.text, errs, tt.want)
		}
	}
}
