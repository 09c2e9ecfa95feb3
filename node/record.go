package node

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
)

// openRecording opens the configured recording, if there is one.
func (n *Node) openRecording() (err error) {
	o := n.options.Record
	if o.Path == "" {
		return nil
	}
	if o.Logger == nil {
		o.Logger = n.logger
	}
	n.recording, err = corpus.Create(o)
	return err
}

// record has each accepted message recorded before the store and the stages see
// it: what waits for a store that is behind would arrive late. It hands on the
// received bytes and asks nothing of the Envelope that is counted.
func (n *Node) record(o *relay.Options) {
	if n.recording == nil {
		return
	}
	tap := func(env *message.Envelope) {
		n.recording.Record(corpus.Record{At: time.Now(), Topic: env.Topic(), Message: env.Bytes()})
	}
	store := o.Store
	if store == nil {
		first := func(_ context.Context, env *message.Envelope) error { tap(env); return nil }
		o.Stages = slices.Concat([]relay.Stage{first}, o.Stages)
		return
	}
	o.Store = func(ctx context.Context, env *message.Envelope) error {
		tap(env)
		return store(ctx, env)
	}
}

// startRecording starts the recording and returns how to stop it. What keeps it
// from writing is logged and shown by the metrics, and is no failure of the node.
func (n *Node) startRecording(work context.Context, end func()) (stop func() error) {
	if n.recording == nil {
		return func() error { return nil }
	}
	stopRun := start(work, "recording", n.recording.Run, end)
	return func() error {
		err := stopRun()
		_ = n.recording.Close() // logged
		return err
	}
}

// abandon closes what assemble opened before it failed.
func (n *Node) abandon() (err error) {
	if n.archive != nil {
		err = n.archive.Close()
	}
	if n.recording != nil {
		err = errors.Join(err, n.recording.Close())
	}
	return err
}
