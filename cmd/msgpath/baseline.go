package main

import (
	"context"
	"path/filepath"

	"github.com/msgpath/msgpath/verdict"
)

type baselineCommand struct {
	Result string `arg:"" help:"A bench.json."`
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
	return verdict.WriteBaseline(out.stdout, result, known)
}
