// Command echo-measure sends notes through two nodes over loopback and writes what
// they did as JSON, for msgpath to judge.
//
//	echo-measure [-notes N] [-body BYTES] [-out FILE]
//
// Exit status: 0 measured, 2 wrong usage, or a file or socket could not be had,
// 3 a run was invalid, 130 interrupted.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"example.org/echo-relay/measure"
)

// limit is how long all runs may take together.
const limit = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx))
}

func run(ctx context.Context) int {
	load := measure.Load{Window: 8}
	flag.IntVar(&load.Notes, "notes", 100, "notes to send")
	flag.IntVar(&load.Body, "body", 1000, "bytes of each, 8 to 1000000")
	out := flag.String("out", "out/echo.json", "file of the result")
	flag.Parse()
	if flag.NArg() > 0 || load.Notes < 1 || load.Notes > 1_000_000 || load.Body < 8 || load.Body > 1_000_000 {
		flag.Usage()
		return 2
	}
	bounded, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	result, err := measure.All(bounded, load)
	if ctx.Err() != nil {
		return 130
	}
	if err = errors.Join(err, write(*out, result)); err != nil {
		fmt.Fprintln(os.Stderr, "echo-measure:", err)
		return 2
	}
	for _, invalid := range result.Invalid {
		fmt.Fprintln(os.Stderr, "echo-measure:", invalid.Reason)
	}
	if !result.Verified {
		return 3
	}
	return 0
}

func write(name string, result measure.Result) error {
	var text bytes.Buffer
	if err := result.Write(&text); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text.Bytes(), 0o644)
}
