package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/study"
)

type baselineCommand struct {
	Result string `arg:"" help:"A bench.json."`
	Filter string `placeholder:"FILE" help:"A filter.json of msgpath bench filter, whose table the document then has."`
	Plots  string `placeholder:"DIR" help:"Folder of counts.svg and throughput.svg, which the document then shows; as a link from the document."`
}

// Run writes docs/baseline.md's text, made of the result alone.
func (b *baselineCommand) Run(ctx context.Context, out *output) error {
	result, err := readResult(b.Result)
	if err != nil {
		return out.unusable(err)
	}
	known := checkout(ctx, filepath.Dir(b.Result), out.stderr)
	known.Plots = b.Plots
	if b.Filter != "" {
		if known.Filter, err = filterTable(b.Filter); err != nil {
			return err
		}
	}
	return verdict.WriteBaseline(out.stdout, result, known)
}

// filterTable returns the table of a filter.json.
func filterTable(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	s, err := study.ReadJSON(f)
	if err == nil && s.Name != "filter" {
		err = fmt.Errorf("a study of %s, want one of the filter", s.Name)
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", name, err)
	}
	return s.Tables[0].Markdown(), nil
}
