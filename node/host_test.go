package node

import (
	"strings"
	"testing"

	"github.com/libp2p/go-libp2p"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/protocol"
	"github.com/libp2p/go-libp2p/p2p/muxer/yamux"
)

// TestSecurity: the preference of the side that dials decides, and what a node
// leaves out is not spoken.
func TestSecurity(t *testing.T) {
	const tls, noise = protocol.ID("/tls/1.0.0"), protocol.ID("/noise")
	for _, tt := range []struct {
		name            string
		dialer, listens []string
		want            protocol.ID // "": they cannot speak
	}{
		{"by default", nil, nil, tls},
		{"the dialer prefers noise", []string{SecurityNoise, SecurityTLS}, nil, noise},
		{"the listener prefers noise", nil, []string{SecurityNoise, SecurityTLS}, tls},
		{"the dialer has noise only", []string{SecurityNoise}, nil, noise},
		{"the listener has noise only", nil, []string{SecurityNoise}, noise},
		{"nothing in common", []string{SecurityTLS}, []string{SecurityNoise}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := run(t, Options{Security: tt.dialer}), run(t, Options{Listen: []string{loopback}, Security: tt.listens})
			err := a.Connect(deadline(t), b.AddrInfo())
			if tt.want == "" {
				if err == nil {
					t.Error("connected")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range connections(a) {
				if c.Security != tt.want || c.StreamMultiplexer != "/yamux/1.0.0" {
					t.Errorf("connection %+v, want %s over yamux", c, tt.want)
				}
			}
		})
	}
}

// connections tells of a node's connections, of which there must be some.
func connections(n *running) (states []network.ConnectionState) {
	for _, c := range n.host.Network().Conns() {
		states = append(states, c.ConnState())
	}
	return states
}

// TestMuxerWindow reads what libp2p would be configured with.
func TestMuxerWindow(t *testing.T) {
	for window, want := range map[int]uint32{0: MinMuxerWindow, 1 << 20: 1 << 20, MaxMuxerWindow: MaxMuxerWindow} {
		var c libp2p.Config
		if err := c.Apply(HostOptions(Options{MuxerWindow: window})...); err != nil || len(c.Muxers) != 1 {
			t.Fatalf("%d muxers, %v", len(c.Muxers), err)
		}
		got := c.Muxers[0].Muxer.(*yamux.Transport)
		if got.InitialStreamWindowSize != want || got.MaxStreamWindowSize != MaxMuxerWindow {
			t.Errorf("window %d: at first %d, at most %d", window, got.InitialStreamWindowSize, got.MaxStreamWindowSize)
		}
	}
	if w := yamux.DefaultTransport.InitialStreamWindowSize; w != MinMuxerWindow {
		t.Errorf("the library's own first window is %d: changed by us, or no longer the least", w)
	}
}

func TestTransportValidate(t *testing.T) {
	err := Options{Security: []string{"tls", "ssl", "tls"}, MuxerWindow: MinMuxerWindow - 1}.Validate()
	for _, want := range []string{`Security[1] "ssl": want tls or noise`, `Security[2] "tls": named twice`, "MuxerWindow 262143"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("no word of %s in: %v", want, err)
		}
	}
	if err := (Options{MuxerWindow: MaxMuxerWindow + 1}).Validate(); err == nil {
		t.Error("a window beyond the largest is valid")
	}
}
