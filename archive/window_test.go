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

// What retention would delete next is not taken from others, who may offer it each
// time (nostr-protocol/nips#540), nor after a restart, when nothing was deleted yet.
func TestRestoreRefusesWhatRetentionDeletes(t *testing.T) {
	now := time.Unix(0, 1000)
	for name, c := range map[string]struct {
		retention archive.Retention
		stored    []int64
		oldest    int64
	}{
		"age":            {archive.Retention{Age: 500}, []int64{0, 300, 600, 900}, 500},
		"count":          {archive.Retention{Count: 2}, []int64{0, 300, 600, 900}, 600},
		"count, restart": {archive.Retention{Count: 2}, []int64{600, 900}, 600},
		"count, room":    {archive.Retention{Count: 3}, []int64{600, 900}, math.MinInt64},
		"bytes":          {archive.Retention{Bytes: 100}, []int64{0, 300, 600, 900}, 900},
		"bytes, room":    {archive.Retention{Bytes: 1 << 20}, []int64{0, 300, 600, 900}, math.MinInt64},
		"none":           {archive.Retention{}, []int64{0}, math.MinInt64},
	} {
		b := archive.NewMemory()
		a := newArchive(t, b, archive.Options{Retention: c.retention, Now: func() time.Time { return now }})
		var rows []archive.Row
		for i, stamp := range c.stored {
			rows = append(rows, archivetest.Numbered(uint64(i), stamp, 8))
		}
		if _, err := b.Insert(t.Context(), rows); err != nil {
			t.Fatal(err)
		}
		if err := a.Prune(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := a.Oldest(); got != c.oldest {
			t.Errorf("%s: oldest %d, want %d", name, got, c.oldest)
		}
		for _, stamp := range []int64{0, 299, 499, 500, 599, 600, 899, 900} {
			requireTaken(t, name, a.Restore(t.Context(), seal(t, &pb.WakuMessage{Timestamp: &stamp})), stamp >= c.oldest)
		}
		closeArchive(t, a)
	}
}
