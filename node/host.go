package node

import (
	"errors"
	"fmt"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/host"
	quic "github.com/libp2p/go-libp2p/p2p/transport/quic"
	"github.com/libp2p/go-libp2p/p2p/transport/tcp"
	"github.com/libp2p/go-libp2p/p2p/transport/websocket"
	"github.com/multiformats/go-multiaddr"
)

// HostOptions returns the libp2p options of a node's host, which speaks TCP,
// QUIC and WebSocket. Bare gossipsub that is to be compared with a Node uses
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
