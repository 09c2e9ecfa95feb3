package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"sync/atomic"
	"time"

	"github.com/libp2p/go-libp2p/core/peer"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// A receiver that is alone in its process shows what memory one node costs: in
// macro it shares the process with its publisher. The two talk in lines on the
// receiver's standard streams: it says where it listens, is told how many messages
// will be measured, says that it is ready, says "." for each delivery, and at the
// end what it spent.

// aloneOrder is what a receiver is told, aloneReport what it says.
type (
	aloneOrder struct {
		Messages int `json:"messages"`
	}
	aloneReport struct {
		Peer  *peer.AddrInfo `json:"peer,omitempty"`
		Ready bool           `json:"ready,omitempty"`
		Run   *verdict.Run   `json:"run,omitempty"`
	}
)

const aloneDelivery = "."

// ServeAlone is the receiver: one node at ReachNode that listens on loopback until
// in ends or ctx does. [Alone] is its other side.
func ServeAlone(ctx context.Context, o NodeOptions, in io.Reader, out io.Writer) error {
	a := &alone{orders: json.NewDecoder(in), out: out, meter: NewMeter(2), end: make(chan verdict.Run, 1)}
	no := node.Options{
		Relay:  relay.Options{Reach: relay.ReachNode, Hash: o.Hash},
		Listen: []string{loopback}, Logger: o.Logger,
	}
	o.setArchive(&no)
	receiver, err := start(ctx, "B", verdict.RoleReceiver, no, a.deliver, nil)
	if err != nil {
		return err
	}
	info := receiver.AddrInfo()
	return errors.Join(a.serve(ctx, aloneReport{Peer: &info}), receiver.stop())
}

// alone is the state of a receiver.
type alone struct {
	orders *json.Decoder
	out    io.Writer
	meter  *Meter
	left   atomic.Int64 // deliveries until the measured part ends
	end    chan verdict.Run
}

func (a *alone) serve(ctx context.Context, hello aloneReport) error {
	if err := a.say(hello); err != nil {
		return err
	}
	for {
		var order aloneOrder
		if err := a.orders.Decode(&order); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("bench: read order: %w", err)
		}
		a.meter.Start()
		a.left.Store(int64(order.Messages))
		if err := a.say(aloneReport{Ready: true}); err != nil {
			return err
		}
		select {
		case run := <-a.end:
			run.Messages = order.Messages
			if err := a.say(aloneReport{Run: &run}); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (a *alone) say(r aloneReport) error {
	if err := json.NewEncoder(a.out).Encode(r); err != nil {
		return fmt.Errorf("bench: write report: %w", err)
	}
	return nil
}

var aloneLine = []byte(aloneDelivery + "\n")

// deliver is the application. Before the first order there is none to count for.
func (a *alone) deliver(context.Context, *message.Envelope) error {
	if _, err := a.out.Write(aloneLine); err != nil {
		return err
	}
	if a.left.Add(-1) == 0 {
		var run verdict.Run
		a.meter.Stop(&run)
		a.end <- run
	}
	return nil
}

// Alone starts cmd, a program that calls [ServeAlone] on its standard streams,
// publishes to it with at most window messages in flight, and returns what the
// receiver's process spent on the messages after the first warmup ones: of the
// run's fields Messages, times, memory and collections.
func Alone(ctx context.Context, cmd *exec.Cmd, messages []*pb.WakuMessage, warmup, window int) (run verdict.Run, err error) {
	in, out, err := pipes(cmd)
	if err != nil {
		return run, err
	}
	if err := cmd.Start(); err != nil {
		return run, fmt.Errorf("bench: start receiver: %w", err)
	}
	defer func() {
		if err != nil {
			_ = cmd.Process.Kill() // it may be in the middle of an order; Wait tells how it ended
		}
		if wait := errors.Join(in.Close(), cmd.Wait()); err == nil && wait != nil {
			err = fmt.Errorf("bench: receiver: %w", wait)
		}
	}()
	defer context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })() // ends what waits for its lines
	p := &alonePublisher{
		lines: bufio.NewScanner(out), orders: json.NewEncoder(in), window: window,
		silence: time.AfterFunc(stall, func() { _ = cmd.Process.Kill() }),
	}
	defer p.silence.Stop()
	if err := p.connect(ctx); err != nil {
		return run, err
	}
	defer func() { err = errors.Join(err, p.node.stop()) }()
	if _, err := p.drive(ctx, messages[:warmup]); err != nil {
		return run, fmt.Errorf("bench: warm-up: %w", err)
	}
	return p.drive(ctx, messages[warmup:])
}

func pipes(cmd *exec.Cmd) (in io.WriteCloser, out io.Reader, err error) {
	if in, err = cmd.StdinPipe(); err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err != nil {
		return nil, nil, fmt.Errorf("bench: start receiver: %w", err)
	}
	return in, out, nil
}

type alonePublisher struct {
	node   *running
	lines  *bufio.Scanner
	orders *json.Encoder
	window int

	silence *time.Timer // ends a receiver that says nothing for long
}

// next returns the next report; nil stands for a delivery.
func (p *alonePublisher) next() (*aloneReport, error) {
	p.silence.Reset(stall)
	if !p.lines.Scan() {
		return nil, errors.Join(errors.New("bench: the receiver ended"), p.lines.Err())
	}
	if p.lines.Text() == aloneDelivery {
		return nil, nil
	}
	r := new(aloneReport)
	if err := json.Unmarshal(p.lines.Bytes(), r); err != nil {
		return nil, fmt.Errorf("bench: read report: %w", err)
	}
	return r, nil
}

// connect waits for the receiver and meshes with it.
func (p *alonePublisher) connect(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, stall)
	defer cancel()
	hello, err := p.next()
	if err != nil {
		return err
	}
	if hello == nil || hello.Peer == nil {
		return errors.New("bench: the receiver did not say where it listens")
	}
	app := func(context.Context, *message.Envelope) error { return nil }
	p.node, err = start(ctx, "A", verdict.RolePublisher, node.Options{
		Relay: relay.Options{Reach: relay.ReachNode}, Logger: slog.New(slog.DiscardHandler),
	}, app, nil)
	if err != nil {
		return err
	}
	err = p.node.Connect(ctx, *hello.Peer)
	if err == nil {
		err = p.node.Relay().WaitMesh(ctx, PubsubTopic, 1)
	}
	if err != nil {
		return errors.Join(err, p.node.stop())
	}
	return nil
}

// drive has the receiver measure messages, and publishes them.
func (p *alonePublisher) drive(ctx context.Context, messages []*pb.WakuMessage) (run verdict.Run, err error) {
	if len(messages) == 0 {
		return run, nil
	}
	if err := p.orders.Encode(aloneOrder{len(messages)}); err != nil {
		return run, fmt.Errorf("bench: write order: %w", err)
	}
	for published, flying := 0, 0; ; {
		r, err := p.next()
		switch {
		case err != nil:
			return run, err
		case r == nil:
			flying--
		case r.Run != nil:
			return *r.Run, nil
		}
		for ; flying < p.window && published < len(messages); published++ {
			if _, err := p.node.Relay().Publish(ctx, PubsubTopic, messages[published]); err != nil {
				return run, err
			}
			flying++
		}
	}
}
