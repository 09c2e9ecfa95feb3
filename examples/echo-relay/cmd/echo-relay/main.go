// Command echo-relay runs one node, which is what goes into production: it is
// built without the tag msgpathcounters, and counts nothing.
//
//	echo-relay [-listen MULTIADDR] [-peer MULTIADDR] [-say TEXT]
//
// Its key lives as long as the process. It ends at an interrupt, with exit status
// 0; 1 is a failure and 2 wrong usage.
package main

import (
	"context"
	"crypto/ed25519"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/msgpath/msgpath/counters"

	"example.org/echo-relay/echo"
	"example.org/echo-relay/pb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	listen := flag.String("listen", "/ip4/127.0.0.1/tcp/0", "where to listen")
	to := flag.String("peer", "", "node to dial, ending in /p2p/ID")
	say := flag.String("say", "", "note to send to it")
	flag.Parse()
	if flag.NArg() > 0 || *to == "" && *say != "" {
		flag.Usage()
		os.Exit(2)
	}
	err := run(ctx, os.Stdout, os.Stderr, *listen, *to, *say)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "echo-relay:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, stdout, stderr io.Writer, listen, to, say string) (err error) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		return err
	}
	node, err := echo.New(echo.Config{
		Counts: counters.New(), Listen: listen, Key: key, Echo: true, Reuse: true,
		Deliver: func(n *pb.Note) { fmt.Fprintf(stdout, "%x: %q\n", n.Author[:4], n.Body) },
		Fail:    func(err error) { fmt.Fprintln(stderr, "echo-relay:", err) },
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, node.Close()) }()
	addrs, err := peer.AddrInfoToP2pAddrs(new(node.Address()))
	if err != nil {
		return err
	}
	fmt.Fprintln(stdout, "listening on", addrs)
	if to != "" {
		if err := greet(ctx, node, to, say); err != nil {
			return err
		}
	}
	return node.Run(ctx)
}

// greet dials a node and sends it a note.
func greet(ctx context.Context, node *echo.Node, to, say string) error {
	address, err := peer.AddrInfoFromString(to)
	if err != nil {
		return err
	}
	if err := node.Connect(ctx, *address); err != nil {
		return err
	}
	if err := node.Joined(ctx); err != nil || say == "" {
		return err
	}
	return node.Publish(ctx, []byte(say))
}
