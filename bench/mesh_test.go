package bench

import (
	"context"
	"fmt"
	"testing"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	"go.uber.org/goleak"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/verdict"
)

// inMesh measures one run in a mesh, and returns it with its traffic.
func inMesh(t *testing.T, m MeshOptions) (verdict.Run, Traffic) {
	t.Helper()
	o := small(t)
	o.Archive = "memory"
	var mesh *meshTarget
	r, err := RunArms(t.Context(), o, []Arm{{Name: pathScaled, Scenario: Macro, Target: func(n NodeOptions) Target {
		n.Reach = relay.ReachNode
		mesh = newMesh(n, m)
		return mesh
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Invalid) > 0 || len(r.Runs) != 1 || !r.Runs[0].Verified || r.Runs[0].ViewsChecked == 0 {
		t.Fatalf("%+v", r)
	}
	return r.Runs[0], mesh.Traffic()
}

// TestPeersAreNotEncodedFor: however many peers are behind the receiver, this
// project encodes a message once, while gossipsub writes a copy to each.
func TestPeersAreNotEncodedFor(t *testing.T) {
	heavy(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	bound := pubsub.GossipSubDhi
	for _, peers := range []int{0, 1, 4, 16} {
		t.Run(fmt.Sprint(peers), func(t *testing.T) {
			run, traffic := inMesh(t, MeshOptions{Peers: peers})
			n := uint64(run.Messages)
			if want := n * uint64(1+peers); traffic.Copies != want || traffic.Mesh != 1+peers {
				t.Errorf("%d copies and a mesh of %d, want %d and %d", traffic.Copies, traffic.Mesh, want, 1+peers)
			}
			if pubsub.GossipSubDhi != bound {
				t.Errorf("gossipsub's bound of a mesh is %d now, it was %d", pubsub.GossipSubDhi, bound)
			}
			if traffic.Bytes <= traffic.Copies*1000 || traffic.Bytes >= traffic.Copies*3100 {
				t.Errorf("%d bytes in %d copies of 1 to 3 kB", traffic.Bytes, traffic.Copies)
			}
			figures := scaleRun(run, &traffic)
			if !counters.Enabled {
				if figures.Encodes != nil {
					t.Errorf("encodes are %g in a build that does not count", *figures.Encodes)
				}
				return
			}
			if *figures.Encodes != 1 || traffic.Encodes != 0 {
				t.Errorf("%g encodes a message, %d of them by peers, want 1 and 0", *figures.Encodes, traffic.Encodes)
			}
			checkPath(t, run)
		})
	}
}

// checkPath holds the nodes of a run to the counts of path zerocopy.
func checkPath(t *testing.T, run verdict.Run) {
	t.Helper()
	var sum counters.Counts
	for _, n := range run.Nodes {
		sum = sum.Add(counters.Total(n.Sites))
	}
	if n := uint64(run.Messages); sum.Decodes != n || sum.Hashes != 2*n || sum.Encodes != n || sum.Copies != 0 {
		t.Errorf("%d messages: %+v, want 1 decode, 2 hashes, 1 encode and no copy of each", n, sum)
	}
}

func TestTopicsCostNoCounts(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	run, traffic := inMesh(t, MeshOptions{Topics: 5})
	if traffic.Copies != uint64(run.Messages) || traffic.Mesh != 1 {
		t.Errorf("%+v, want %d copies and a mesh of 1", traffic, run.Messages)
	}
	if counters.Enabled {
		checkPath(t, run)
	}
}

// What cannot start is taken down, and Close may be called again.
func TestMeshThatDoesNotStart(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := newMesh(NodeOptions{Archive: "memory"}, MeshOptions{Peers: 1})
	if err := m.Start(ctx, nil); err == nil {
		t.Error("it started")
	}
	for range 2 {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}
