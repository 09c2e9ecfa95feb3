package provezero

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// sizeFile is what the compiler reads beside the node's source: a size above 0
// does not compile.
const (
	sizeFile   = "msgpath_size_check.go"
	sizeSource = `//go:build !msgpathcounters

package main

import (
	msgpathunsafe "unsafe"

	msgpathcounters %q
)

var (
	_ [0]struct{} = [msgpathunsafe.Sizeof(msgpathcounters.Set{})]struct{}{}
	_ [0]struct{} = [msgpathunsafe.Sizeof(msgpathcounters.Site{})]struct{}{}
)
`
)

// sizes checks that a Set and a Site take no space, for each architecture.
func (p *proof) sizes(ctx context.Context) ([]row, error) {
	r := row{check: "size of Set and Site", arch: "all", found: "0 bytes", ok: true}
	node := p.users[len(p.users)-1] // go list -deps names it last
	file, err := p.tool.write(sizeFile, fmt.Appendf(nil, sizeSource, p.counters))
	if err != nil {
		return nil, err
	}
	overlay := map[string]string{filepath.Join(node.dir, sizeFile): file}
	for _, arch := range p.Arches {
		_, err := p.tool.compile(ctx, build{arch: arch, overlay: overlay}, []string{node.path})
		if err == nil {
			continue
		}
		if r.details = linesWith(err, "Sizeof"); len(r.details) == 0 || errors.Is(err, ctx.Err()) {
			return nil, err
		}
		r.found, r.ok = "more than 0 bytes", false
		return []row{r}, nil
	}
	return []row{r}, nil
}

// linesWith returns the lines of an error's text that hold word.
func linesWith(err error, word string) (lines []string) {
	for line := range strings.Lines(err.Error()) {
		if strings.Contains(line, word) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}
