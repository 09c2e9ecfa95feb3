package main

import (
	"context"
	"path/filepath"

	"github.com/msgpath/msgpath/verdict"
)

type baselineCommand struct {
	Result string `arg:"" type:"existingfile" help:"A bench.json."`
}

// Run writes docs/baseline.md's text, made of the result alone.
func (b *baselineCommand) Run(ctx context.Context, out *output) error {
	result, err := readResult(b.Result)
	if err != nil {
		return err
	}
	return verdict.WriteBaseline(out.stdout, result, checkout(ctx, filepath.Dir(b.Result), out.stderr))
}
