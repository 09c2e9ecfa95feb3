// Command relaynode runs one relay node until it is told to stop.
//
// It writes a log to stderr, whose line "node is ready" has the addresses by
// which others dial the node, and nothing to stdout. SIGINT and SIGTERM stop it
// in order: what it accepted is committed to its archive. A second signal ends
// it at once. A build with the tag msgpathcounters logs what was counted when it
// stops.
//
// Exit codes: 0 stopped in order, 1 the node failed, 2 wrong usage or
// configuration.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/msgpath/msgpath/node"
)

const (
	exitOK     = 0
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	signalled, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	context.AfterFunc(signalled, func() {
		stop() // a second signal ends the process at once
		cancel()
	})
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// exit is how kong asks to end the process.
type exit int

// run is the command but for its process: it runs a node until ctx ends and
// returns the exit code.
func run(ctx context.Context, args []string, _ io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case exit: // --help, --version
			code = int(v)
		default:
			panic(v)
		}
	}()
	var f flags
	o, err := configure(&f, args, stdout, stderr)
	if err != nil {
		fmt.Fprintln(stderr, "relaynode:", err)
		fmt.Fprintln(stderr, "relaynode: see relaynode --help")
		return exitUsage
	}
	logger := f.logger(stderr)
	f.setMemory(logger)
	if o.Identity, err = f.key(logger); err != nil {
		fmt.Fprintln(stderr, "relaynode:", err)
		return exitUsage
	}
	if err := serve(ctx, o, f.HTTP, logger); err != nil {
		logger.Error("node failed", "error", err)
		return exitFailed
	}
	return exitOK
}

// configure parses and checks the command line, and changes nothing.
func configure(f *flags, args []string, stdout, stderr io.Writer) (node.Options, error) {
	parser, err := kong.New(f,
		kong.Name("relaynode"),
		kong.Description("Runs one relay node until it is told to stop."),
		kong.Writers(stdout, stderr),
		kong.Exit(func(code int) { panic(exit(code)) }),
		kong.Vars{"version": versionText()},
	)
	if err != nil {
		return node.Options{}, err
	}
	if _, err := parser.Parse(args); err != nil {
		return node.Options{}, err
	}
	return f.options()
}
