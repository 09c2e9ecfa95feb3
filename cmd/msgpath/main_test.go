package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message/pb"
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
			e.Setenv("GORACE", os.Getenv("GORACE"))
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
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"record": record},
	})
}

// record FILE N records N messages of 1 to N bytes, and one that is ephemeral.
func record(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: record FILE N")
	}
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	w, err := corpus.Create(corpus.Options{Path: ts.MkAbs(args[0])})
	ts.Check(err)
	for i := range n + 1 {
		m := &pb.WakuMessage{
			Payload:      bytes.Repeat([]byte("x"), i+1),
			ContentTopic: "/test/1/msgpath/proto",
			Timestamp:    proto.Int64(int64(i)),
			Ephemeral:    proto.Bool(i == n),
		}
		wire, err := proto.Marshal(m)
		ts.Check(err)
		w.Record(corpus.Record{At: time.Unix(0, int64(i)), Topic: bench.PubsubTopic, Message: wire})
	}
	ts.Check(w.Close())
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
