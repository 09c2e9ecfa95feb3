package node

import (
	"crypto/rand"
	"fmt"
	"log/slog"
	"net"
	"testing"
	"time"

	"github.com/libp2p/go-libp2p/core/crypto"
	"github.com/libp2p/go-libp2p/core/network"
	"github.com/libp2p/go-libp2p/core/peer"
	"github.com/multiformats/go-multiaddr"
)

// key returns a new identity and its peer id.
func key(t *testing.T) (crypto.PrivKey, peer.ID) {
	t.Helper()
	k, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	id, err := peer.IDFromPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return k, id
}

// A configured peer is dialed again when it is lost and comes back. Whether it
// enters the mesh at once is gossipsub's, which lets a peer that has left back in
// after a while only.
func TestKeepConnected(t *testing.T) {
	first := options()
	first.Identity, _ = key(t)
	a := run(t, first)
	address := a.AddrInfo().Addrs[0].String()

	log := make(records, 1000)
	o := options()
	o.Logger = slog.New(log)
	o.Peers = []string{fmt.Sprintf("%s/p2p/%v", address, a.ID())}
	b := run(t, o)
	log.await(t, "peer connected")
	a.stop(t)
	log.await(t, "peer lost")

	first.Listen = []string{address}
	run(t, first)
	log.await(t, "peer connected")
	if c := b.host.Network().Connectedness(a.ID()); c != network.Connected {
		t.Errorf("peer is %v", c)
	}
}

// A stop does not wait for a dial that hangs, nor for the pause before the next.
func TestStopWhileDialing(t *testing.T) {
	mute, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	_, id := key(t)
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, other := key(t)
	log := make(records, 1000)
	o := options()
	o.Logger = slog.New(log)
	o.Peers = []string{
		fmt.Sprintf("/ip4/127.0.0.1/tcp/%d/p2p/%v", mute.Addr().(*net.TCPAddr).Port, id),
		fmt.Sprintf("/ip4/127.0.0.1/tcp/%d/p2p/%v", refused.Addr().(*net.TCPAddr).Port, other),
	}
	refused.Close()
	n := run(t, o)
	c, err := mute.Accept() // the dial hangs in its handshake now
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	log.await(t, "peer not reached") // and the other pauses
	begun := time.Now()
	n.stop(t)
	if took := time.Since(begun); took > 4*time.Second { // the handshake would take 15 s
		t.Errorf("the stop took %v", took)
	}
}

func TestNodeDoesNotDialItself(t *testing.T) {
	log := make(records, 1000)
	o := options()
	var id peer.ID
	o.Identity, id = key(t)
	o.Logger = slog.New(log)
	o.Peers = []string{fmt.Sprintf("/ip4/127.0.0.1/tcp/1/p2p/%v", id)}
	run(t, o)
	log.await(t, "configured peer is this node itself; not dialed")
}

func TestRedialPauses(t *testing.T) {
	pauses := redials()
	for want := firstRedial; want < 4*lastRedial; want *= 2 {
		capped := min(want, lastRedial)
		pause, stop := pauses.Next()
		if stop || pause < capped*8/10 || pause > capped*12/10 {
			t.Errorf("pause %v, stop %v, want %v give or take a fifth", pause, stop, capped)
		}
	}
}

func TestConfiguredPeersMerge(t *testing.T) {
	_, a := key(t)
	_, b := key(t)
	at := func(port int, id peer.ID) string { return fmt.Sprintf("/ip4/127.0.0.1/tcp/%d/p2p/%v", port, id) }
	got := configuredPeers([]string{at(1, a), at(2, b), at(3, a)})
	tcp := func(port int) multiaddr.Multiaddr {
		return multiaddr.StringCast(fmt.Sprintf("/ip4/127.0.0.1/tcp/%d", port))
	}
	if len(got) != 2 || got[0].ID != a || got[1].ID != b {
		t.Fatalf("peers %v", got)
	}
	if !got[0].Addrs[0].Equal(tcp(1)) || !got[0].Addrs[1].Equal(tcp(3)) || len(got[1].Addrs) != 1 {
		t.Errorf("addresses %v", got)
	}
}
