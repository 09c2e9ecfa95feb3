package node

import (
	"cmp"
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
	"github.com/libp2p/go-libp2p/p2p/security/noise"
	libp2ptls "github.com/libp2p/go-libp2p/p2p/security/tls"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	"github.com/multiformats/go-multiaddr"
)

// Protocols that secure a connection.
const (
	SecurityTLS   = "tls"   // TLS 1.3, whose ciphers most processors have instructions for
	SecurityNoise = "noise" // ChaCha20-Poly1305; all that some speak, nim-libp2p among them
)

// DefaultSecurity returns the protocols of a node whose options name none.
func DefaultSecurity() []string { return []string{SecurityTLS, SecurityNoise} }

var securities = map[string]libp2p.Option{
	SecurityTLS:   libp2p.Security(libp2ptls.ID, libp2ptls.New),
	SecurityNoise: libp2p.Security(noise.ID, noise.New),
}

// Bounds of Options.MuxerWindow in bytes: what a peer may send in any case by the
// protocol of yamux, and what a window may grow to.
const (
	MinMuxerWindow = 256 << 10
	MaxMuxerWindow = 16 << 20
)

// muxer returns yamux as libp2p runs it, with the first window of o.
func muxer(o Options) libp2p.Option {
	t := *yamux.DefaultTransport
	t.InitialStreamWindowSize = uint32(cmp.Or(o.MuxerWindow, MinMuxerWindow))
	t.MaxStreamWindowSize = MaxMuxerWindow
	return libp2p.Muxer(yamux.ID, &t)
}

// HostOptions returns the libp2p options of a node's host, which speaks TCP,
// QUIC and WebSocket, from options that Validate has passed. Bare gossipsub that is to be compared with a Node uses
// them too.
func HostOptions(o Options) []libp2p.Option {
	options := []libp2p.Option{
		libp2p.UserAgent("msgpath"),
		libp2p.DisableRelay(),
		libp2p.DisableMetrics(),
		// A reused port is one that two processes listen on at once, and share
		// the connections to, without either learning of the other.
		libp2p.Transport(tcp.NewTCPTransport, tcp.DisableReuseport()),
		libp2p.Transport(quic.NewTransport),
		libp2p.Transport(websocket.New),
		muxer(o),
	}
	security := o.Security
	if len(security) == 0 {
		security = DefaultSecurity()
	}
	for _, s := range security {
		options = append(options, securities[s])
	}
	if len(o.Listen) == 0 {
		options = append(options, libp2p.NoListenAddrs)
	} else {
		options = append(options, libp2p.ListenAddrStrings(o.Listen...))
	}
	if o.Identity != nil {
		options = append(options, libp2p.Identity(o.Identity))
	}
	return options
}

// newHost returns a host that listens on every configured address. libp2p.New
// would be content with one of them, and leave goroutines behind with none.
func newHost(o Options) (host.Host, error) {
	listen := o.Listen
	o.Listen = nil
	h, err := libp2p.New(HostOptions(o)...)
	if err != nil {
		return nil, fmt.Errorf("node: start host: %w", err)
	}
	var errs []error
	for _, address := range listen {
		if err := listenOn(h, address); err != nil {
			errs = append(errs, fmt.Errorf("node: listen on %s: %w", address, err))
		}
	}
	if errs != nil {
		return nil, errors.Join(append(errs, h.Close())...)
	}
	return h, nil
}

func listenOn(h host.Host, address string) error {
	a, err := multiaddr.NewMultiaddr(address)
	if err != nil {
		return err
	}
	return h.Network().Listen(a)
}
