package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/msgpath/msgpath/counters"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"msgpath": main})
}

// TestScripts runs testdata/script. The conditions [counting] and [race] tell the
// builds apart; MAKEFILE is the project's.
func TestScripts(t *testing.T) {
	makefile, err := filepath.Abs("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			e.Setenv("MAKEFILE", makefile)
			return nil
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "counting":
				return counters.Enabled, nil
			case "race":
				return raceEnabled, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

func TestInterruptedWritesNothing(t *testing.T) {
	ctx, stop := signal.NotifyContext(t.Context(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	for _, scenario := range []string{"micro", "sync"} {
		dir := t.TempDir() + "/out"
		if code := run(ctx, []string{"bench", scenario, "--out", dir}, os.Stderr, os.Stderr); code != exitInterrupted {
			t.Errorf("%s: exit code %d, want %d", scenario, code, exitInterrupted)
		}
		if files, err := os.ReadDir(dir); err != nil || len(files) > 0 {
			t.Errorf("%s: the output folder holds %v (%v)", scenario, files, err)
		}
	}
}

// A panic is no exit code: it must not end in silence.
func TestPanicIsNotSwallowed(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the panic is gone")
		}
	}()
	run(t.Context(), []string{"schema"}, nil, os.Stderr) // writes to no writer
}
