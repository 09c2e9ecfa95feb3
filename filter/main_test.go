package filter

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

const (
	topicA  = "/waku/2/rs/18/1"
	topicB  = "/waku/2/rs/1/4"
	content = "/filter/1/test/proto"
)

var siteTest = counters.NewSite("filtertest.app")

// TestMain looks for goroutines left behind. Those of hosts end some time after
// they are told to, so that it looks several times.
func TestMain(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for range 20 {
		if err == nil {
			break
		}
		err = goleak.Find()
	}
	if err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// deadline bounds every wait of a test: it is reached only by one that fails.
func deadline(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 40*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// newHost returns a host on loopback TCP.
func newHost(t testing.TB) host.Host {
	t.Helper()
	h, err := libp2p.New(libp2p.ListenAddrStrings("/ip4/127.0.0.1/tcp/0"), libp2p.Transport(tcp.NewTCPTransport),
		libp2p.DisableRelay(), libp2p.DisableMetrics())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func connect(t testing.TB, from, to host.Host) {
	t.Helper()
	if err := from.Connect(deadline(t), peer.AddrInfo{ID: to.ID(), Addrs: to.Addrs()}); err != nil {
		t.Fatal(err)
	}
}

// part is a Server or a Client.
type part interface {
	Run(context.Context) error
	Ready() <-chan struct{}
	Close() error
}

// run runs a part until the test ends.
func run(t testing.TB, p part) {
	t.Helper()
	ran := make(chan error, 1)
	go func() { ran <- p.Run(context.Background()) }()
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
		if err := <-ran; err != nil {
			t.Errorf("run: %v", err)
		}
	})
	<-p.Ready()
}

// server is a running Server with its host, and what it logs.
type server struct {
	*Server
	host host.Host
	log  records
}

func newServer(t testing.TB, o Options) server {
	t.Helper()
	s := server{host: newHost(t), log: make(records, 1<<16)}
	o.Logger = slog.New(s.log)
	var err error
	if s.Server, err = New(s.host, o); err != nil {
		t.Fatal(err)
	}
	run(t, s.Server)
	return s
}

// stage runs both stages on one Envelope, as the relay does where it shares one.
func (s server) stage(t testing.TB, env *message.Envelope) {
	t.Helper()
	if err := s.Match(t.Context(), env); err != nil {
		t.Fatal(err)
	}
	if err := s.Push(t.Context(), env); err != nil {
		t.Fatal(err)
	}
}

// light is a running Client with its host, connected to servers, and what it got.
type light struct {
	*Client
	host host.Host
	got  chan *message.Envelope
}

func newLight(t testing.TB, servers ...server) light {
	t.Helper()
	l := light{host: newHost(t), got: make(chan *message.Envelope, 1<<10)}
	var err error
	l.Client, err = NewClient(l.host, ClientOptions{
		Format: message.Format{Decoder: message.Aliasing},
		Handle: func(_ peer.ID, env *message.Envelope) { l.got <- env },
	})
	if err != nil {
		t.Fatal(err)
	}
	run(t, l.Client)
	for _, s := range servers {
		connect(t, l.host, s.host)
	}
	return l
}

func (l light) subscribe(t testing.TB, at host.Host, pubsub string, content ...string) {
	t.Helper()
	if err := l.Subscribe(deadline(t), at.ID(), pubsub, content...); err != nil {
		t.Fatal(err)
	}
}

// expect takes the next messages and compares them, topic included, with what was
// pushed.
func (l light) expect(t testing.TB, want ...*message.Envelope) {
	t.Helper()
	ctx := deadline(t)
	for i, w := range want {
		select {
		case got := <-l.got:
			if got.Topic() != w.Topic() || !bytes.Equal(got.Bytes(), w.Bytes()) {
				t.Fatalf("message %d: got %d bytes on %q, want %d on %q", i, len(got.Bytes()), got.Topic(), len(w.Bytes()), w.Topic())
			}
		case <-ctx.Done():
			t.Fatalf("%d of %d messages came; %+v", i, len(want), l.Stats())
		}
	}
}

// numbered returns message i, of size bytes of payload, on a pubsub topic.
func numbered(t testing.TB, topic string, i, size int) *message.Envelope {
	t.Helper()
	return sealed(t, topic, content, i, size)
}

// sealed is numbered with another content topic.
func sealed(t testing.TB, topic, content string, i, size int) *message.Envelope {
	t.Helper()
	payload := append(fmt.Appendf(nil, "message %d", i), make([]byte, size)...)
	env, err := message.Seal(counters.Set{}, message.Format{}, topic,
		&pb.WakuMessage{Payload: payload, ContentTopic: content, Timestamp: proto.Int64(int64(i))}, siteTest)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// records is a log whose messages can be waited for.
type records chan slog.Record

func (r records) Enabled(context.Context, slog.Level) bool { return true }
func (r records) WithAttrs([]slog.Attr) slog.Handler       { return r }
func (r records) WithGroup(string) slog.Handler            { return r }
func (r records) Handle(_ context.Context, rec slog.Record) error {
	r <- rec
	return nil
}

// await waits for so many records of a text.
func (r records) await(t testing.TB, n int, text string) {
	t.Helper()
	ctx := deadline(t)
	for seen := 0; seen < n; {
		select {
		case rec := <-r:
			if rec.Message == text {
				seen++
			}
		case <-ctx.Done():
			t.Fatalf("%d of %d log records %q", seen, n, text)
		}
	}
}

// bare is a host that is asked for subscriptions and grants them, or is pushed to
// and does with the streams what a test says.
func bare(t testing.TB, push func(network.Stream)) host.Host {
	t.Helper()
	h := newHost(t)
	h.SetStreamHandler(PushProtocol, push)
	h.SetStreamHandler(SubscribeProtocol, func(st network.Stream) {
		defer st.Close()
		req := new(pb.FilterSubscribeRequest)
		if err := readMessage(st, req); err != nil {
			t.Errorf("request: %v", err)
			return
		}
		_ = writeMessage(st, &pb.FilterSubscribeResponse{RequestId: req.GetRequestId(), StatusCode: StatusOK})
	})
	return h
}

// request sends bytes to a server as one request and returns the answer.
func request(t testing.TB, from, to host.Host, b []byte) *pb.FilterSubscribeResponse {
	t.Helper()
	st, err := from.NewStream(deadline(t), to.ID(), SubscribeProtocol)
	if err != nil {
		t.Fatal(err)
	}
	defer st.Reset()
	if _, err := st.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := st.CloseWrite(); err != nil {
		t.Fatal(err)
	}
	resp := new(pb.FilterSubscribeResponse)
	if err := readMessage(st, resp); err != nil {
		t.Fatalf("answer to %x: %v", b, err)
	}
	return resp
}

// ask sends a request and returns the answer.
func ask(t testing.TB, from, to host.Host, req *pb.FilterSubscribeRequest) *pb.FilterSubscribeResponse {
	t.Helper()
	var b bytes.Buffer
	if err := writeMessage(&b, req); err != nil {
		t.Fatal(err)
	}
	return request(t, from, to, b.Bytes())
}

// subscribeBare subscribes a bare host at a server.
func subscribeBare(t testing.TB, from host.Host, s server, pubsub string, contents ...string) {
	t.Helper()
	connect(t, from, s.host)
	resp := ask(t, from, s.host, &pb.FilterSubscribeRequest{
		RequestId: "1", FilterSubscribeType: pb.FilterSubscribeRequest_SUBSCRIBE,
		PubsubTopic: &pubsub, ContentTopics: contents,
	})
	if resp.GetStatusCode() != StatusOK {
		t.Fatalf("subscribe: %v", resp)
	}
}
