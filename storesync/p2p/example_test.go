package p2p_test

import (
	"context"
	"fmt"
	"sync"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/storesync/negentropy"
	"github.com/msgpath/msgpath/storesync/p2p"
)

const topic = "/waku/2/rs/0/0"

var siteExample = counters.NewSite("p2ptest.example")

// A shelf keeps messages in a map.
type shelf struct {
	mu       sync.Mutex
	messages map[message.Hash]*pb.WakuMessage
	syncer   *p2p.Syncer
}

func (s *shelf) put(m *pb.WakuMessage) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.messages[message.Blake3.Sum(topic, m)] = m
}

func (s *shelf) store() p2p.Store {
	return p2p.Store{
		Snapshot: func(from, to int64) (negentropy.Set, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			var items []negentropy.Item
			for h, m := range s.messages {
				if t := m.GetTimestamp(); from <= t && t < to {
					items = append(items, negentropy.Item{Timestamp: uint64(t), ID: h})
				}
			}
			return negentropy.NewVector(items)
		},
		Load: func(_ context.Context, h message.Hash) (string, *pb.WakuMessage, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return topic, s.messages[h], nil
		},
		Has: func(_ context.Context, h message.Hash) (bool, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			return s.messages[h] != nil, nil
		},
		Accept: func(_ context.Context, env *message.Envelope) error {
			m, err := env.Message(siteExample)
			if err != nil {
				return err
			}
			s.put(m)
			s.syncer.Stored(env, nil) // committed
			return nil
		},
	}
}

// Two stores that lack one message each hold the same after a session.
func Example() {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var shelves [2]*shelf
	var nodes [2]peer.AddrInfo
	var running sync.WaitGroup
	for i := range shelves {
		h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"))
		if err != nil {
			fmt.Println(err)
			return
		}
		defer h.Close()
		s := &shelf{messages: make(map[message.Hash]*pb.WakuMessage)}
		s.put(&pb.WakuMessage{Payload: fmt.Appendf(nil, "of node %d", i), ContentTopic: "/example/1/x/plain", Timestamp: proto.Int64(1700000000000000000)})
		if s.syncer, err = p2p.New(h, s.store(), p2p.Options{}); err != nil {
			fmt.Println(err)
			return
		}
		running.Go(func() { _ = s.syncer.Run(ctx) })
		<-s.syncer.Ready()
		shelves[i], nodes[i] = s, peer.AddrInfo{ID: h.ID(), Addrs: h.Addrs()}
		if i == 1 {
			if err := h.Connect(ctx, nodes[0]); err != nil {
				fmt.Println(err)
			}
		}
	}
	r, err := shelves[1].syncer.Sync(ctx, nodes[0].ID)
	fmt.Println("needed:", r.Need, "received:", r.Received, "sent:", r.Served, "error:", err)
	cancel()
	running.Wait()
	fmt.Println("messages:", len(shelves[0].messages), "and", len(shelves[1].messages))
	// Output:
	// needed: 1 received: 1 sent: 1 error: <nil>
	// messages: 2 and 2
}
