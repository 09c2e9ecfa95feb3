package archivetest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

// exerciseRetentionCount: of 7 messages the 5 newest stay, exactly (nwaku's capacity
// policy, nwaku#1885); a size below one message keeps none and comes to an end.
func exerciseRetentionCount(t *testing.T, b archive.Backend) {
	rows := numberedRows(0, 7)
	five := over(t, b, archive.Options{Retention: archive.Retention{Count: 5}})
	for _, r := range rows {
		mustInsert(t, b, r)
		mustPrune(t, five)
	}
	requireKeys(t, b, keysOf(rows[2:]))
	mustPrune(t, over(t, b, archive.Options{Retention: archive.Retention{Bytes: 1}}))
	requireKeys(t, b, nil)
	mustPrune(t, over(t, b, archive.Options{Retention: archive.Retention{Bytes: 1}}))
}

func mustPrune(t rapid.TB, a *archive.Archive) {
	if err := a.Prune(context.Background()); err != nil {
		t.Fatalf("prune: %v", err)
	}
}

// exerciseRetentionModel has bounds of every kind, several at once, and compares
// with their definition. What is told as pruned is what is gone.
func exerciseRetentionModel(t *testing.T, b archive.Backend) {
	now := time.Unix(0, 12)
	rapid.Check(t, func(rt *rapid.T) {
		empty(t, rt, b)
		var m model
		fill(t, rt, b, &m, 25)
		r := archive.Retention{
			Age:   time.Duration(rapid.Int64Range(0, 14).Draw(rt, "age")),
			Count: rapid.Int64Range(0, 30).Draw(rt, "count"),
			Bytes: rapid.Int64Range(0, 1200).Draw(rt, "bytes"),
			Batch: rapid.IntRange(1, 9).Draw(rt, "batch"),
		}
		var pruned []message.Key
		a := over(t, b, archive.Options{
			Retention: r, Now: func() time.Time { return now },
			Pruned: func(keys []message.Key) { pruned = append(pruned, keys...) },
		})
		mustPrune(rt, a)
		kept := slices.Clone(m)
		for len(kept) > 0 && (r.Age > 0 && kept[0].Key.Timestamp < now.UnixNano()-int64(r.Age) ||
			r.Count > 0 && int64(len(kept)) > r.Count || r.Bytes > 0 && kept.size().Bytes > r.Bytes) {
			kept = kept[1:]
		}
		if got := mustKeys(t, b); !slices.Equal(got, keysOf(kept)) {
			rt.Fatalf("%+v of %v: kept %v, want %v", r, keysOf(m), got, keysOf(kept))
		}
		if want := keysOf(m[:len(m)-len(kept)]); !slices.Equal(pruned, want) || a.Stats().Pruned != uint64(len(want)) {
			rt.Fatalf("told of %v, counted %d, want %v", pruned, a.Stats().Pruned, want)
		}
	})
}

// exerciseRetentionBesideInserts stores while the retention runs, with a clock that
// moves on: in the end what was told as stored and not as pruned is there, and
// nothing else (nwaku#2666: rows older than the limit are gone).
func exerciseRetentionBesideInserts(t *testing.T, b archive.Backend) {
	const n = 300
	var mu sync.Mutex
	live := make(map[message.Key]bool)
	var clock int64
	var told sync.WaitGroup
	told.Add(n)
	a := over(t, b, archive.Options{
		Retention: archive.Retention{Age: 100, Count: 150, Batch: 16, Interval: time.Millisecond},
		Now: func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return time.Unix(0, clock)
		},
		Stored: func(env *message.Envelope, err error) {
			defer told.Done()
			k, _ := env.Key(counters.Site{})
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				t.Errorf("stored: %v", err)
			}
			live[k] = true
			clock = max(clock, k.Timestamp)
		},
		Pruned: func(keys []message.Key) {
			mu.Lock()
			defer mu.Unlock()
			for _, k := range keys {
				if !live[k] {
					t.Errorf("pruned %v before it was told as stored", k)
				}
				delete(live, k)
			}
		},
	})
	ctx, cancel := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- a.Run(ctx) }()
	for i := range n {
		mustStore(t, a, int64(i))
	}
	told.Wait()
	mustPrune(t, a)
	var want []message.Key
	mu.Lock()
	for k := range live {
		want = append(want, k)
	}
	mu.Unlock()
	requireKeys(t, b, want)
	if len(want) != 101 { // timestamps 199 to 299
		t.Errorf("%d messages are left, want 101", len(want))
	}
	for _, k := range want {
		if row := mustGet(t, b, k.Hash); message.Blake3.Sum(row.Topic, row.Message) != k.Hash || row.Key != k {
			t.Errorf("row %v is not that of %v", row.Key, k)
		}
	}
	cancel()
	if err := <-ran; err != nil {
		t.Errorf("run: %v", err)
	}
}

// mustStore stores a message with a timestamp, in the way of a node.
func mustStore(t *testing.T, a *archive.Archive, timestamp int64) {
	t.Helper()
	m := &pb.WakuMessage{Payload: make([]byte, 5000), ContentTopic: "/archivetest/1/stored/proto", Timestamp: proto.Int64(timestamp)}
	env, err := message.Seal(counters.Set{}, message.Format{}, Topic, m, counters.Site{})
	if err == nil {
		err = a.Store(t.Context(), env)
	}
	if err != nil {
		t.Fatalf("store: %v", err)
	}
}
