package peers

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/libp2p/go-libp2p"
	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

const listen = "/ip4/127.0.0.1/tcp/0"

// Queues of which the library's own 32 loses messages: of RPCs for each peer, and
// of messages for the read loop.
const (
	outboundQueue = 1024
	subscription  = 1024
)

// handwritten is a relay as it would be written by hand.
type handwritten struct {
	name, role string
	host       host.Host
	gossip     *pubsub.PubSub
	topic      *pubsub.Topic
	sub        *pubsub.Subscription
	store      *store // nil: keeps nothing
	logger     *slog.Logger
	handled    func(*pb.WakuMessage)
	own        func()

	tracer    *tracer
	delivered atomic.Uint64
	failed    atomic.Pointer[error] // the first
	cancel    context.CancelFunc
	ended     chan struct{}
	close     sync.Once
	closeErr  error
}

// start joins the benchmark's topic and reads from it until close. It closes the
// store that n has, whatever becomes of the rest.
func (n *handwritten) start(ctx context.Context) (err error) {
	n.ended = make(chan struct{})
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	n.cancel = cancel
	if n.host, err = libp2p.New(libp2p.ListenAddrStrings(listen)); err != nil {
		close(n.ended)
		return fmt.Errorf("peers: start host: %w", err)
	}
	if err = n.join(run); err != nil {
		close(n.ended)
		return fmt.Errorf("peers: join %s: %w", bench.PubsubTopic, err)
	}
	go n.read(run)
	return nil
}

func (n *handwritten) join(ctx context.Context) (err error) {
	n.tracer = newTracer()
	n.gossip, err = pubsub.NewGossipSub(ctx, n.host,
		pubsub.WithMessageSignaturePolicy(pubsub.StrictNoSign),
		pubsub.WithNoAuthor(),
		pubsub.WithMessageIdFn(messageID),
		pubsub.WithPeerOutboundQueueSize(outboundQueue),
		pubsub.WithRawTracer(n.tracer),
	)
	if err != nil {
		return err
	}
	if err = n.gossip.RegisterTopicValidator(bench.PubsubTopic, validate); err != nil {
		return err
	}
	if n.topic, err = n.gossip.Join(bench.PubsubTopic); err != nil {
		return err
	}
	n.sub, err = n.topic.Subscribe(pubsub.WithBufferSize(subscription))
	return err
}

// messageID is what stands in for author and sequence number, which an unsigned
// message does not have.
func messageID(m *pubsubpb.Message) string {
	sum := sha256.Sum256(m.GetData())
	return string(sum[:])
}

// maxMeta is the limit of RFC 14/WAKU2-MESSAGE in bytes.
const maxMeta = 64

func validate(_ context.Context, _ peer.ID, msg *pubsub.Message) pubsub.ValidationResult {
	var m pb.WakuMessage
	if err := proto.Unmarshal(msg.Data, &m); err != nil {
		return pubsub.ValidationReject
	}
	if m.GetContentTopic() == "" || len(m.GetMeta()) > maxMeta {
		return pubsub.ValidationReject
	}
	return pubsub.ValidationAccept
}

// read is the loop of the library's example.
func (n *handwritten) read(ctx context.Context) {
	defer close(n.ended)
	for {
		msg, err := n.sub.Next(ctx)
		if err != nil {
			return
		}
		n.delivered.Add(1)
		if msg.ReceivedFrom == n.host.ID() {
			n.own()
			continue
		}
		if err := n.handle(ctx, msg); err != nil {
			n.failed.CompareAndSwap(nil, &err)
			n.logger.Error("message not handled", "error", err)
		}
	}
}

func (n *handwritten) handle(ctx context.Context, msg *pubsub.Message) error {
	m := new(pb.WakuMessage)
	if err := proto.Unmarshal(msg.Data, m); err != nil {
		return fmt.Errorf("peers: decode message: %w", err)
	}
	hash := sha256.Sum256(msg.Data)
	n.logger.Info("message received", "hash", hex.EncodeToString(hash[:]), "from", msg.ReceivedFrom, "size", len(msg.Data))
	if n.store != nil {
		if err := n.store.save(ctx, hash[:], msg.GetTopic(), m); err != nil {
			return err
		}
	}
	n.handled(m)
	return nil
}

func (n *handwritten) publish(ctx context.Context, m *pb.WakuMessage) error {
	data, err := proto.Marshal(m)
	if err != nil {
		return fmt.Errorf("peers: encode message: %w", err)
	}
	return n.topic.Publish(ctx, data)
}

// account returns what the node did since it started; it counts nothing else.
func (n *handwritten) account() verdict.Node {
	return verdict.Node{
		Name: n.name, Role: n.role, Delivered: n.delivered.Load(),
		Rejected: n.tracer.rejected.Load(), Duplicates: n.tracer.duplicates.Load(), Dropped: n.tracer.dropped.Load(),
	}
}

// losses returns what the node dropped, rejected or failed to handle, a line for
// each.
func (n *handwritten) losses() (lines []string) {
	if c := n.tracer.rejected.Load(); c > 0 {
		lines = append(lines, fmt.Sprintf("node %s: %d rejected", n.name, c))
	}
	if c := n.tracer.dropped.Load(); c > 0 {
		lines = append(lines, fmt.Sprintf("node %s: %d dropped", n.name, c))
	}
	if err := n.failed.Load(); err != nil {
		lines = append(lines, fmt.Sprintf("node %s: %v", n.name, *err))
	}
	return lines
}

// stop frees everything; nil is stopped already.
func (n *handwritten) stop() error {
	if n == nil {
		return nil
	}
	n.close.Do(func() {
		n.cancel()
		<-n.ended
		if n.host != nil {
			n.closeErr = n.host.Close()
		}
		if n.store != nil {
			n.closeErr = errors.Join(n.closeErr, n.store.close())
		}
	})
	return n.closeErr
}
