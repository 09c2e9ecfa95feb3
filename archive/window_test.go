package archive_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

func seal(t *testing.T, m *pb.WakuMessage) *message.Envelope {
	t.Helper()
	m.ContentTopic = "/window/1/t/proto"
	env, err := message.Seal(counters.Set{}, message.Format{}, archivetest.Topic, m, counters.Site{})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// The rule of 13/WAKU2-STORE, as nwaku#876 and go-waku#215 have it: what is more than
// 20 s from the store's clock is not stored. A message without a timestamp is
// refused too, and one that says 0 is one of 1970.
func TestWindow(t *testing.T) {
	now := time.Unix(1_700_000_000, 5)
	for name, c := range map[string]struct {
		timestamp     *int64
		live, restore bool // whether it is stored
	}{
		"none":      {nil, false, true},
		"0":         {proto.Int64(0), false, true},
		"-21 s":     {at(now, -21*time.Second), false, true},
		"-20 s":     {at(now, -20*time.Second), true, true},
		"-19 s":     {at(now, -19*time.Second), true, true},
		"now":       {at(now, 0), true, true},
		"+19 s":     {at(now, 19*time.Second), true, true},
		"+20 s":     {at(now, 20*time.Second), true, true},
		"+20 s 1ns": {at(now, 20*time.Second+1), false, false},
		"+21 s":     {at(now, 21*time.Second), false, false},
		"highest":   {proto.Int64(math.MaxInt64), false, false},
		"lowest":    {proto.Int64(math.MinInt64), false, true},
	} {
		a := newArchive(t, archive.NewMemory(), archive.Options{Window: 20 * time.Second, Now: func() time.Time { return now }})
		requireTaken(t, name+", live", a.Store(t.Context(), seal(t, &pb.WakuMessage{Timestamp: c.timestamp, Payload: []byte{1}})), c.live)
		requireTaken(t, name+", restored", a.Restore(t.Context(), seal(t, &pb.WakuMessage{Timestamp: c.timestamp, Payload: []byte{2}})), c.restore)
		ephemeral := seal(t, &pb.WakuMessage{Timestamp: c.timestamp, Ephemeral: proto.Bool(true)})
		requireTaken(t, name+", ephemeral", a.Store(t.Context(), ephemeral), true) // it never gets old there
		closeArchive(t, a)
	}
}

func at(now time.Time, d time.Duration) *int64 { return proto.Int64(now.Add(d).UnixNano()) }

func requireTaken(t *testing.T, what string, err error, want bool) {
	t.Helper()
	if want && err != nil || !want && !errors.Is(err, archive.ErrTimestamp) {
		t.Errorf("%s: got error %v, want it stored: %v", what, err, want)
	}
}

// What retention deleted is not taken back from others, who may offer it each time
// (nostr-protocol/nips#540).
func TestRestoreRefusesWhatRetentionDeletes(t *testing.T) {
	now := time.Unix(0, 1000)
	for name, r := range map[string]archive.Retention{"age": {Age: 500}, "count": {Count: 2}} {
		b := archive.NewMemory()
		a := newArchive(t, b, archive.Options{Retention: r, Now: func() time.Time { return now }})
		var rows []archive.Row
		for i := range 4 {
			rows = append(rows, archivetest.Numbered(uint64(i), int64(i)*300, 8)) // 0, 300, 600, 900
		}
		if _, err := b.Insert(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		if err := a.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if s := a.Stats(); s.Pruned != 2 {
			t.Errorf("%s: pruned %d, want 2", name, s.Pruned)
		}
		for _, c := range []struct {
			timestamp int64
			want      bool
		}{{0, false}, {299, false}, {301, name == "count"}, {600, true}} {
			err := a.Restore(t.Context(), seal(t, &pb.WakuMessage{Timestamp: &c.timestamp}))
			requireTaken(t, name, err, c.want)
		}
		closeArchive(t, a)
	}
}
