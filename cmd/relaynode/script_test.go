package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/counters"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"relaynode": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Values[processes{}] = make(map[string]*process)
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Condition: func(name string) (bool, error) {
			if name == "counting" {
				return counters.Enabled, nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"start":       start,
			"signal":      sendSignal,
			"get":         get,
			"publish":     publish,
			"rows":        rows,
			"mode":        mode,
			"measure":     measure,
			"kill-twice":  killTwice,
			"exits":       exits,
			"same-peer":   samePeer,
			"tcp-address": tcpAddress,
		},
	})
}

// patience bounds every wait of a script.
const patience = time.Minute

// processes is the key of a script's running nodes, by name.
type processes struct{}

func running(ts *testscript.TestScript) map[string]*process {
	return ts.Value(processes{}).(map[string]*process)
}

// process is a relaynode that a script has started.
type process struct {
	cmd  *exec.Cmd
	log  strings.Builder // its stderr; complete once read is closed
	out  strings.Builder // its stdout
	told chan record     // the log records that a script may wait for
	read chan struct{}
}

type record struct {
	Message   string   `json:"msg"`
	Address   string   `json:"address"`
	Addresses []string `json:"addresses"`
}

// start NAME [flag...] starts a relaynode, waits until it is ready, and sets
// NAME_ADDR to its first address and NAME_HTTP to that of its HTTP server.
func start(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: start NAME [flag...]")
	}
	name := args[0]
	p := &process{told: make(chan record, 3), read: make(chan struct{})}
	p.cmd = exec.Command("relaynode", append([]string{"--log-format=json"}, args[1:]...)...)
	p.cmd.Dir = ts.MkAbs(".")
	p.cmd.Stdout = &p.out
	stderr, err := p.cmd.StderrPipe()
	ts.Check(err)
	ts.Check(p.cmd.Start())
	running(ts)[name] = p
	ts.Defer(func() { p.kill() })
	go p.follow(stderr)
	p.await(ts, name)
}

// follow reads the log and passes on what a script waits for.
func (p *process) follow(stderr io.Reader) {
	defer close(p.read)
	lines := bufio.NewScanner(stderr)
	for lines.Scan() {
		p.log.WriteString(lines.Text() + "\n")
		var r record
		if json.Unmarshal(lines.Bytes(), &r) != nil {
			continue
		}
		switch r.Message {
		case "serving http", "node is ready", "node is stopping":
			p.told <- r
		}
	}
}

func (p *process) await(ts *testscript.TestScript, name string) {
	timeout := time.After(patience)
	for {
		select {
		case r := <-p.told:
			if r.Message == "serving http" {
				ts.Setenv(name+"_HTTP", r.Address)
				continue
			}
			ts.Setenv(name+"_ADDR", r.Addresses[0])
			return
		case <-p.read:
			ts.Fatalf("%s ended before it was ready:\n%s", name, p.log.String())
		case <-timeout:
			ts.Fatalf("%s is not ready", name)
		}
	}
}

func (p *process) kill() {
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Kill()
		<-p.read
		_ = p.cmd.Wait()
	}
}

// signal NAME SIGNAL CODE sends a signal to a started relaynode, waits for its
// end, and expects an exit code. Its output is then what stdout and stderr match.
func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 3 {
		ts.Fatalf("usage: signal NAME SIGNAL CODE")
	}
	p := running(ts)[args[0]]
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM}[args[1]]
	if p == nil || sig == 0 {
		ts.Fatalf("signal: no process %q or no signal %q", args[0], args[1])
	}
	ts.Check(p.cmd.Process.Signal(sig))
	select {
	case <-p.read:
	case <-time.After(patience):
		ts.Fatalf("%s does not stop", args[0])
	}
	if err := p.cmd.Wait(); err != nil {
		if _, ok := errors.AsType[*exec.ExitError](err); !ok {
			ts.Fatalf("wait for %s: %v", args[0], err)
		}
	}
	fmt.Fprint(ts.Stdout(), p.out.String())
	fmt.Fprint(ts.Stderr(), p.log.String())
	if code := p.cmd.ProcessState.ExitCode(); strconv.Itoa(code) != args[2] {
		ts.Fatalf("%s exits %d, want %s:\n%s", args[0], code, args[2], p.log.String())
	}
}

// kill-twice NAME holds up the end of a started relaynode by a request that it
// waits for, sends SIGTERM and, once the node is stopping, SIGINT, which must end
// it as a process without a handler ends.
func killTwice(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 || running(ts)[args[0]] == nil {
		ts.Fatalf("usage: kill-twice NAME")
	}
	p := running(ts)[args[0]]
	request, err := net.Dial("tcp", ts.Getenv(args[0]+"_HTTP"))
	ts.Check(err)
	defer request.Close()
	_, err = io.WriteString(request, "GET /healthz HTTP/1.1\r\n") // and no more
	ts.Check(err)
	ts.Check(p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case r := <-p.told:
		if r.Message != "node is stopping" {
			ts.Fatalf("%s says %q, want that it is stopping", args[0], r.Message)
		}
	case <-p.read:
		ts.Fatalf("%s ended at the first signal:\n%s", args[0], p.log.String())
	}
	ts.Check(p.cmd.Process.Signal(syscall.SIGINT))
	<-p.read
	_ = p.cmd.Wait() // an ExitError, or none if it ended in order
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGINT {
		ts.Fatalf("%s ends with %v, want by SIGINT:\n%s", args[0], p.cmd.ProcessState, p.log.String())
	}
}

// get URL prints the status and body of a GET.
func get(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: get URL")
	}
	client := &http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(args[0])
	ts.Check(err)
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%s\n%s", answer.Status, body)
}

// rows FILE prints the number of messages in an archive.
func rows(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: rows FILE")
	}
	name := ts.MkAbs(args[0])
	_, err := os.Stat(name)
	ts.Check(err)
	db, err := sqlite.Open(context.Background(), name)
	ts.Check(err)
	size, err := db.Size(context.Background())
	ts.Check(err)
	ts.Check(db.Close())
	fmt.Fprintf(ts.Stdout(), "%d rows\n", size.Messages)
}

// measure FILE measures with the messages that a relaynode recorded.
func measure(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: measure FILE")
	}
	c, err := bench.LoadCorpus(ts.MkAbs(args[0]))
	ts.Check(err)
	o := bench.DefaultOptions()
	o.Corpus, o.Messages, o.Runs, o.Paths, o.Cold = c, c.Len(), 1, []string{"zerocopy"}, true
	r, err := bench.Run(context.Background(), o)
	ts.Check(err)
	for _, i := range r.Invalid {
		ts.Fatalf("%s is invalid: %s", i.Scenario, i.Reason)
	}
	fmt.Fprintf(ts.Stdout(), "%d runs of %d messages, verified %v\n", len(r.Runs), r.Settings.Messages, r.Verified)
}

// mode FILE prints a file's permissions.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: mode FILE")
	}
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	fmt.Fprintf(ts.Stdout(), "%04o\n", info.Mode().Perm())
}

// exits CODE COMMAND [arg...] runs a command and expects an exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND [arg...]")
	}
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = ts.MkAbs("."), ts.Stdout(), ts.Stderr()
	err := cmd.Run()
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		ts.Fatalf("run %s: %v", args[1], err)
	}
	if code := cmd.ProcessState.ExitCode(); strconv.Itoa(code) != args[0] {
		ts.Fatalf("%s exits %d, want %s", args[1], code, args[0])
	}
}

// same-peer ADDRESS ADDRESS expects the peer ids of two addresses to be one.
func samePeer(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 2 {
		ts.Fatalf("usage: [!] same-peer ADDRESS ADDRESS")
	}
	_, a, okA := strings.Cut(args[0], "/p2p/")
	_, b, okB := strings.Cut(args[1], "/p2p/")
	if !okA || !okB || (a == b) == neg {
		ts.Fatalf("same-peer: %q and %q", args[0], args[1])
	}
}

// tcp-address ADDRESS sets TCP to ADDRESS without its peer id.
func tcpAddress(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: tcp-address ADDRESS")
	}
	address, _, _ := strings.Cut(args[0], "/p2p/")
	ts.Setenv("TCP", address)
}
