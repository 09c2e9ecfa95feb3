package filter

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message/pb"
)

// refusal is the error of a request that is refused.
type refusal struct {
	why  Refusal
	desc string
}

func (r *refusal) Error() string { return r.desc }

func refuse(why Refusal, format string, args ...any) error {
	return &refusal{why, fmt.Sprintf(format, args...)}
}

// answer reads one request from a stream and answers it, whatever it is. ctx is
// that of a peer's goroutine.
func (s *Server) answer(ctx context.Context, st network.Stream) error {
	if err := st.SetDeadline(time.Now().Add(s.opts.Timeout)); err != nil {
		return err
	}
	req := new(pb.FilterSubscribeRequest)
	err := readMessage(st, req)
	switch {
	case err == nil:
		err = s.do(ctx, st.Conn().RemotePeer(), req, time.Now())
	case errors.Is(err, errMalformed) || errors.Is(err, io.EOF):
		err = refuse(RefuseMalformed, "request: %v", err)
	default:
		return err // the stream was lost
	}
	return writeMessage(st, s.response(req, err))
}

// response returns the answer to a request, and counts it.
func (s *Server) response(req *pb.FilterSubscribeRequest, err error) *pb.FilterSubscribeResponse {
	r := &pb.FilterSubscribeResponse{RequestId: req.GetRequestId(), StatusCode: StatusOK, StatusDesc: proto.String("OK")}
	if why := new(refusal); errors.As(err, &why) {
		s.tally.refused[why.why].Add(1)
		r.StatusCode, r.StatusDesc = why.why.code(), &why.desc
		return r
	}
	s.tally.requests.Add(1)
	return r
}

// do does what a peer asks for. Its error is a refusal, which has changed nothing.
func (s *Server) do(ctx context.Context, from peer.ID, req *pb.FilterSubscribeRequest, now time.Time) error {
	if req.GetRequestId() == "" {
		return refuse(RefuseInvalid, "request id is empty")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	sub := s.table.peers[from]
	if sub != nil && s.expired(sub, now) {
		s.remove(sub, RemoveExpired)
		sub = nil
	}
	switch req.GetFilterSubscribeType() {
	case pb.FilterSubscribeRequest_SUBSCRIBER_PING:
		return s.ping(sub, now)
	case pb.FilterSubscribeRequest_SUBSCRIBE:
		return s.subscribe(ctx, from, sub, req, now)
	case pb.FilterSubscribeRequest_UNSUBSCRIBE:
		return s.unsubscribe(sub, req)
	case pb.FilterSubscribeRequest_UNSUBSCRIBE_ALL:
		if sub == nil {
			return errUnknown
		}
		s.remove(sub, RemoveUnsubscribed)
		return nil
	}
	return refuse(RefuseInvalid, "filter subscribe type %d is unknown", req.GetFilterSubscribeType())
}

var errUnknown = refuse(RefuseUnknown, "peer has no subscriptions")

func (s *Server) ping(sub *subscriber, now time.Time) error {
	if sub == nil {
		return errUnknown
	}
	sub.refreshed = now
	return nil
}

// subscribe subscribes sub, or the peer from if that is nil.
func (s *Server) subscribe(ctx context.Context, from peer.ID, sub *subscriber, req *pb.FilterSubscribeRequest, now time.Time) error {
	if err := checkCriteria(req.GetPubsubTopic(), req.GetContentTopics()); err != nil {
		return refuse(RefuseInvalid, "%v", err)
	}
	fresh := sub == nil
	if fresh {
		sub = &subscriber{peer: from, pairs: make(map[pair]bool), queue: make(chan *frame, s.opts.Queue)}
	}
	to := pairs(req.GetPubsubTopic(), req.GetContentTopics())
	if err := s.table.room(sub, to); err != nil {
		return refuse(RefuseFull, "no room for the subscription: %v", err)
	}
	if fresh {
		s.start(ctx, sub)
	}
	s.table.add(sub, to)
	sub.refreshed = now
	return nil
}

// start starts the goroutine of a peer.
func (s *Server) start(ctx context.Context, sub *subscriber) {
	ctx, sub.end = context.WithCancel(ctx)
	s.pushers.Go(func() { s.pushTo(ctx, sub) })
}

func (s *Server) unsubscribe(sub *subscriber, req *pb.FilterSubscribeRequest) error {
	if err := checkCriteria(req.GetPubsubTopic(), req.GetContentTopics()); err != nil {
		return refuse(RefuseInvalid, "%v", err)
	}
	if sub == nil {
		return errUnknown
	}
	from := pairs(req.GetPubsubTopic(), req.GetContentTopics())
	if !slices.ContainsFunc(from, func(p pair) bool { return sub.pairs[p] }) {
		return refuse(RefuseUnknown, "peer is subscribed to none of these topics")
	}
	if s.table.cut(sub, from); len(sub.pairs) == 0 {
		s.remove(sub, RemoveUnsubscribed)
	}
	return nil
}
