package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"

	"github.com/msgpath/msgpath/verdict"
)

type lockCommand struct {
	Result string `arg:"" help:"A bench.json."`
	Check  string `placeholder:"FILE" help:"Compare with this lock file and print the lines that differ; exit code 1 if any does."`
}

// Run writes the counts of a result as a lock file to stdout, or compares them
// with one.
func (l *lockCommand) Run(out *output) error {
	result, err := readResult(l.Result)
	if err != nil {
		return out.unusable(err)
	}
	var text bytes.Buffer
	err = verdict.WriteLock(&text, result)
	switch {
	case errors.Is(err, verdict.ErrNotLockable):
		fmt.Fprintln(out.stderr, "msgpath:", err)
		out.code = verdict.ExitInvalid
		return nil
	case err != nil:
		return err
	case l.Check == "":
		_, err = text.WriteTo(out.stdout)
		return err
	}
	return l.check(out, text.String())
}

func (l *lockCommand) check(out *output, measured string) error {
	locked, err := os.ReadFile(l.Check)
	if err != nil {
		return err
	}
	lines := verdict.CompareLock(string(locked), measured)
	for _, line := range lines {
		fmt.Fprintln(out.stdout, line)
	}
	if len(lines) > 0 {
		out.code = verdict.ExitFailed
		fmt.Fprintf(out.stderr, "msgpath: counts differ from %s in the %d lines above; if they are meant to, run make lock and commit it\n", l.Check, len(lines))
		return nil
	}
	_, err = fmt.Fprintf(out.stdout, "Counts are those of %s.\n", l.Check)
	return err
}
