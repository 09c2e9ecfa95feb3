package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/msgpath/msgpath/verdict"
)

type baselineCommand struct {
	Result string `arg:"" type:"existingfile" help:"A bench.json."`
}

// Run writes docs/baseline.md's text, made of the result alone.
func (b *baselineCommand) Run(ctx context.Context, out *output) error {
	f, err := os.Open(b.Result)
	if err != nil {
		return err
	}
	defer f.Close()
	result, err := verdict.ReadJSON(f)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Result, err)
	}
	return verdict.WriteBaseline(out.stdout, result, checkout(ctx, filepath.Dir(b.Result), out.stderr))
}
