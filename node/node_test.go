package node

import (
	"context"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/relay"
)

func TestArchives(t *testing.T) {
	for _, name := range []string{"memory", "sqlite::memory:", "sqlite:" + filepath.Join(t.TempDir(), "a ?#%.db")} {
		for reach := relay.ReachStage; reach <= relay.ReachNode; reach++ {
			t.Run(name+" "+reach.String(), func(t *testing.T) { exchange(t, name, reach) })
		}
	}
}

// exchange has A publish to B and expects that each consumer of B saw each
// message once.
func exchange(t *testing.T, name string, reach relay.Reach) {
	const n = 20
	var validated, received atomic.Int64
	first, second := make(app, n), make(app, n)
	a, b := options(shard0), options(shard0)
	a.Relay.Reach, b.Relay.Reach = reach, reach
	b.Archive, b.Sync = name, true
	b.Relay.Stages = []relay.Stage{first.stage, second.stage}
	b.Relay.Validators = []relay.Validator{func(context.Context, *message.Envelope) error {
		validated.Add(1)
		return nil
	}}
	b.Relay.Observers = []relay.Observer{func(o relay.Observation) {
		if o.Event == relay.Received {
			received.Add(1)
		}
	}}
	nodeA, nodeB := run(t, a), run(t, b)
	join(t, nodeA, nodeB, shard0)
	// A file keeps what the path before stored: other messages each time.
	want := publish(t, nodeA, shard0, int(reach)*n, (int(reach)+1)*n)
	for _, stage := range []app{first, second} {
		if diff := cmp.Diff(want, stage.take(t, n)); diff != "" {
			t.Errorf("stage (-want +got):\n%s", diff)
		}
	}
	if validated.Load() != n || received.Load() != n {
		t.Errorf("%d validated, %d received, want %d", validated.Load(), received.Load(), n)
	}
	stored := archived(t, nodeB.Archive().Keys(deadline(t)))
	if diff := cmp.Diff(want, stored[len(stored)-n:]); diff != "" {
		t.Errorf("archive (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(stored, slices.Collect(nodeB.SyncSet().Keys())); diff != "" {
		t.Errorf("sync set (-archive +set):\n%s", diff)
	}
	if nodeA.Archive() != nil || nodeA.SyncSet() != nil {
		t.Error("A was asked to keep nothing and keeps something")
	}
}

// The same bytes on two topics are two messages, as in ChainSafe/lodestar#9070
// they were not.
func TestSameBytesOnTwoTopics(t *testing.T) {
	seen := make(app, 4)
	a, b := options(shard0, shard1), options(shard0, shard1)
	b.Archive, b.Sync = "sqlite::memory:", true
	b.Relay.Stages = []relay.Stage{seen.stage}
	nodeA, nodeB := run(t, a), run(t, b)
	join(t, nodeA, nodeB, shard0, shard1)
	want := append(publish(t, nodeA, shard0, 0, 1), publish(t, nodeA, shard1, 0, 1)...)
	slices.SortFunc(want, message.Key.Compare)
	if want[0].Hash == want[1].Hash {
		t.Error("one hash for two topics")
	}
	if diff := cmp.Diff(want, seen.take(t, 2)); diff != "" {
		t.Errorf("delivered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, archived(t, nodeB.Archive().Keys(deadline(t)))); diff != "" {
		t.Errorf("archive (-want +got):\n%s", diff)
	}
}

func TestEphemeral(t *testing.T) {
	seen := make(app, 2)
	a, b := options(shard0), options(shard0)
	b.Archive, b.Sync = "sqlite::memory:", true
	b.Relay.Stages = []relay.Stage{seen.stage}
	nodeA, nodeB := run(t, a), run(t, b)
	join(t, nodeA, nodeB, shard0)
	passing := numbered(0)
	passing.Ephemeral = proto.Bool(true)
	if _, err := nodeA.Relay().Publish(deadline(t), shard0, passing); err != nil {
		t.Fatal(err)
	}
	kept := publish(t, nodeA, shard0, 1, 2)
	if got := seen.take(t, 2); got[1] != kept[0] {
		t.Errorf("delivered %v, want the ephemeral message and %v", got, kept)
	}
	if diff := cmp.Diff(kept, archived(t, nodeB.Archive().Keys(deadline(t)))); diff != "" {
		t.Errorf("archive (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(kept, slices.Collect(nodeB.SyncSet().Keys())); diff != "" {
		t.Errorf("sync set (-want +got):\n%s", diff)
	}
	if s := nodeB.Archive().Stats(); s.Ephemeral != 1 || s.Stored != 1 {
		t.Errorf("archive counted %+v, want 1 ephemeral and 1 stored", s)
	}
}

// What was accepted before Close is in the file, and in the sync set of the
// node that opens it next.
func TestStopCommits(t *testing.T) {
	const n = 200
	file := filepath.Join(t.TempDir(), "archive.db")
	o := options(shard0)
	o.Archive, o.Relay.AllowNoPeers = "sqlite:"+file, true
	first := run(t, o)
	want := publish(t, first, shard0, 0, n)
	first.stop(t)
	if s := first.Relay().Stats()[0]; s.Published != n || s.Delivered != n {
		t.Errorf("published %d, delivered %d, want %d", s.Published, s.Delivered, n)
	}
	backend, err := sqlite.Open(deadline(t), file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, archived(t, archive.Keys(deadline(t), backend))); diff != "" {
		t.Errorf("file after the stop (-want +got):\n%s", diff)
	}
	if err := backend.Close(); err != nil {
		t.Fatal(err)
	}
	o.Sync = true
	second := run(t, o)
	if diff := cmp.Diff(want, slices.Collect(second.SyncSet().Keys())); diff != "" {
		t.Errorf("sync set after a restart (-want +got):\n%s", diff)
	}
	publish(t, second, shard0, 0, 1)
	second.stop(t)
	if s := second.Relay().Stats()[0]; s.Known != 1 || s.Delivered != 0 {
		t.Errorf("a message of the file: known %d, delivered %d, want 1 and 0", s.Known, s.Delivered)
	}
}

// What the retention deletes leaves the sync set with it; a message from far ahead
// is published and not stored.
func TestRetention(t *testing.T) {
	o := options(shard0)
	o.Archive, o.Sync, o.Relay.AllowNoPeers = "sqlite::memory:", true, true
	o.Retention.Count = 3
	arrived := make(app, 10)
	o.Relay.Stages = []relay.Stage{arrived.stage}
	n := run(t, o)
	want := publish(t, n, shard0, 0, 10)[7:]
	arrived.take(t, 10)
	if err := n.Archive().Prune(deadline(t)); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, archived(t, n.Archive().Keys(deadline(t)))); diff != "" {
		t.Errorf("archive (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, slices.Collect(n.SyncSet().Keys())); diff != "" {
		t.Errorf("sync set (-want +got):\n%s", diff)
	}
}

func TestArchiveWindow(t *testing.T) {
	o := options(shard0)
	o.Archive, o.Relay.AllowNoPeers, o.ArchiveWindow = "memory", true, time.Hour
	n := run(t, o)
	publish(t, n, shard0, 0, 2) // of 1970
	n.stop(t)
	if s := n.Relay().Stats()[0]; s.Published != 2 || s.Delivered != 0 || s.Causes[relay.DropStore] != 2 {
		t.Errorf("published %d, delivered %d, dropped %d, want 2, 0, 2", s.Published, s.Delivered, s.Causes[relay.DropStore])
	}
}
