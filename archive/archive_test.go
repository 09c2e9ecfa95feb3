package archive_test

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const topic = archivetest.Topic

// received returns an Envelope as a node has it that got m from the wire.
func received(t testing.TB, counts counters.Set, d message.Decoder, m *pb.WakuMessage) *message.Envelope {
	t.Helper()
	data, err := proto.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return message.Wrap(counts, message.Format{Decoder: d}, topic, data)
}

func envelope(t testing.TB, n int) *message.Envelope {
	return received(t, counters.Set{}, message.Aliasing, archivetest.Numbered(uint64(n), int64(n), 8).Message)
}

func ephemeral(t testing.TB, n int) *message.Envelope {
	m := archivetest.Numbered(uint64(n), int64(n), 8).Message
	m.Ephemeral = proto.Bool(true)
	return received(t, counters.Set{}, message.Aliasing, m)
}

func mustStore(t testing.TB, a *archive.Archive, envs ...*message.Envelope) {
	t.Helper()
	for _, env := range envs {
		if err := a.Store(t.Context(), env); err != nil {
			t.Fatalf("store: %v", err)
		}
	}
}

// An answer is one call of Options.Stored.
type answer struct {
	n   int // the number in the payload
	err error
}

// answers returns an Options.Stored that sends what it is told, up to 100 times.
func answers() (func(*message.Envelope, error), chan answer) {
	told := make(chan answer, 100)
	return func(env *message.Envelope, err error) {
		m, _ := env.Message(counters.Site{})
		told <- answer{int(binary.BigEndian.Uint64(m.GetPayload())), err}
	}, told
}

func requireAnswers(t *testing.T, told <-chan answer, want ...answer) {
	t.Helper()
	for _, w := range want {
		if got := <-told; got.n != w.n || !errors.Is(got.err, w.err) {
			t.Fatalf("told %v, want %v", got, w)
		}
	}
	select {
	case got := <-told:
		t.Fatalf("told %v, want nothing more", got)
	default:
	}
}

func requireIs(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("%s: got error %v, want %v", what, err, want)
	}
}

func requireBalanced(t *testing.T, s archive.Stats) {
	t.Helper()
	if sum := s.Stored + s.Duplicates + s.Failed + s.Ephemeral + s.Queued; sum != s.Accepted {
		t.Fatalf("accepted %d, answered and queued %d: %+v", s.Accepted, sum, s)
	}
}

func TestNewReportsEverythingWrong(t *testing.T) {
	_, err := archive.New(nil, archive.Options{Queue: -1, Batch: -2})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{"no backend", "Queue -1", "Batch -2"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not name %s", err, want)
		}
	}
}

func TestStoresInOrder(t *testing.T) {
	stored, told := answers()
	a := newArchive(t, archive.NewMemory(), archive.Options{Stored: stored, Batch: 3})
	defer closeArchive(t, a)
	mustStore(t, a, envelope(t, 1), ephemeral(t, 2), envelope(t, 3), envelope(t, 1), ephemeral(t, 5), envelope(t, 6))
	if s := a.Stats(); s.Queued != 6 || s.Accepted != 6 {
		t.Fatalf("before Run: %+v", s)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Run(ctx); err != nil { // what was accepted is committed all the same
		t.Fatal(err)
	}
	requireAnswers(t, told, answer{1, nil}, answer{2, nil}, answer{3, nil},
		answer{1, archive.ErrDuplicate}, answer{5, nil}, answer{6, nil})
	s := a.Stats()
	if s.InsertTime <= 0 {
		t.Errorf("insert time %v", s.InsertTime)
	}
	s.InsertTime = 0
	if want := (archive.Stats{Accepted: 6, Stored: 3, Duplicates: 1, Ephemeral: 2, Batches: 2}); s != want {
		t.Fatalf("got %+v, want %+v", s, want)
	}
	requireStored(t, a, 1, 3, 6)
	requireIs(t, "store after Run", a.Store(t.Context(), envelope(t, 7)), archive.ErrClosed)
}

// requireStored fails unless a holds exactly the messages numbered n, whole.
func requireStored(t *testing.T, a *archive.Archive, n ...int) {
	t.Helper()
	var got []int
	for k, err := range a.Keys(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		row, err := a.Get(t.Context(), k.Hash)
		if err != nil {
			t.Fatal(err)
		}
		if h := message.Blake3.Sum(row.Topic, row.Message); h != k.Hash {
			t.Fatalf("row hashes to %s, its key says %s", h, k.Hash)
		}
		got = append(got, int(binary.BigEndian.Uint64(row.Message.GetPayload())))
	}
	if !slices.Equal(got, n) {
		t.Fatalf("holds %v, want %v", got, n)
	}
}

func TestGroupsWhatIsQueued(t *testing.T) {
	g := newGate()
	stored, told := answers()
	var sizes []int
	a := start(t, g, archive.Options{
		Batch: 3, Stored: stored,
		Observe: func(n int, _ time.Duration, err error) {
			if err != nil {
				t.Errorf("observed %v", err)
			}
			sizes = append(sizes, n)
		},
	})
	mustStore(t, a.Archive, envelope(t, 0))
	<-g.reached // alone: nothing else was queued, and nothing was waited for
	for n := 1; n <= 4; n++ {
		mustStore(t, a.Archive, envelope(t, n))
	}
	g.open <- nil
	<-g.reached
	g.open <- nil
	<-g.reached
	g.open <- nil
	a.cancel()
	if err := <-a.result; err != nil {
		t.Fatal(err)
	}
	requireAnswers(t, told, answer{0, nil}, answer{1, nil}, answer{2, nil}, answer{3, nil}, answer{4, nil})
	if want := []int{1, 3, 1}; !slices.Equal(sizes, want) {
		t.Fatalf("transactions of %v messages, want %v", sizes, want)
	}
}

// The bound counts the batch at work too; a full queue blocks, and drops nothing.
func TestFullQueueBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		a := start(t, g, archive.Options{Queue: 2, Batch: 1})
		mustStore(t, a.Archive, envelope(t, 0))
		<-g.reached
		mustStore(t, a.Archive, envelope(t, 1))

		third := make(chan error, 1)
		go func() { third <- a.Store(t.Context(), envelope(t, 2)) }()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		requireIs(t, "store beside a full queue", a.Store(ctx, envelope(t, 3)), context.DeadlineExceeded)
		synctest.Wait()
		select {
		case err := <-third:
			t.Fatalf("store returned %v from a full queue", err)
		default:
		}
		g.open <- nil
		if err := <-third; err != nil {
			t.Fatal(err)
		}
		for range 2 {
			<-g.reached
			g.open <- nil
		}
		synctest.Wait()
		requireStored(t, a.Archive, 0, 1, 2)
		requireBalanced(t, a.Stats())
	})
}

func TestDoneContextIsRefused(t *testing.T) {
	a := newArchive(t, archive.NewMemory(), archive.Options{})
	defer closeArchive(t, a)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	requireIs(t, "store", a.Store(ctx, envelope(t, 1)), context.Canceled)
	if s := a.Stats(); s.Accepted != 0 {
		t.Fatalf("accepted %d", s.Accepted)
	}
}

func TestBadMessageIsRefused(t *testing.T) {
	a := newArchive(t, archive.NewMemory(), archive.Options{})
	defer closeArchive(t, a)
	err := a.Store(t.Context(), received(t, counters.Set{}, message.Copying, &pb.WakuMessage{}))
	requireIs(t, "store", err, message.ErrNoContentTopic)
	if s := a.Stats(); s.Accepted != 0 {
		t.Fatalf("accepted %d", s.Accepted)
	}
}

// The payload that a backend is given is the one received, not a copy of it, and
// what was hashed for others is not hashed again.
func TestPassesTheReceivedBytes(t *testing.T) {
	env := received(t, counters.New(), message.Aliasing, archivetest.Numbered(1, 1, 50_000).Message)
	var rows []archive.Row
	b := script{archive.NewMemory(), func(_ context.Context, r []archive.Row) ([]bool, error) {
		rows = slices.Clone(r)
		return make([]bool, len(r)), nil
	}}
	a := newArchive(t, b, archive.Options{})
	mustStore(t, a, env)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
	closeArchive(t, a)
	payload, data := rows[0].Message.GetPayload(), env.Bytes()
	at := uintptr(unsafe.Pointer(&payload[0])) - uintptr(unsafe.Pointer(&data[0]))
	if at >= uintptr(len(data)) {
		t.Fatal("the payload was copied")
	}
	requireCounts(t, env.Counts(), "archive.archive",
		counters.Counts{Decodes: 1, DecodedBytes: uint64(len(data)), Hashes: 1, HashedBytes: 50_000})
}

// requireCounts fails unless site counted want and no other site anything, in a
// build that counts.
func requireCounts(t *testing.T, counts counters.Set, site string, want counters.Counts) {
	t.Helper()
	if !counters.Enabled {
		return
	}
	got := counters.Load(counts)
	if len(got) != 1 || got[0].Site != site || got[0].Counts != want {
		t.Fatalf("counted %+v, want %+v at %s", got, want, site)
	}
}

func TestEphemeralIsNotHashed(t *testing.T) {
	env := received(t, counters.New(), message.Aliasing, &pb.WakuMessage{ContentTopic: "t", Ephemeral: proto.Bool(true)})
	a := newArchive(t, archive.NewMemory(), archive.Options{})
	defer closeArchive(t, a)
	mustStore(t, a, env)
	requireCounts(t, env.Counts(), "archive.archive",
		counters.Counts{Decodes: 1, DecodedBytes: uint64(len(env.Bytes()))})
}

// putsOff is a Memory that has something to do at a checkpoint.
type putsOff struct {
	*archive.Memory
	err error
}

func (p putsOff) Checkpoint(context.Context) error { return p.err }

func TestCheckpoint(t *testing.T) {
	full := errors.New("disk full")
	for _, c := range []struct {
		backend archive.Backend
		want    error
	}{{archive.NewMemory(), nil}, {putsOff{archive.NewMemory(), nil}, nil}, {putsOff{archive.NewMemory(), full}, full}} {
		a := newArchive(t, c.backend, archive.Options{})
		requireIs(t, "checkpoint", a.Checkpoint(t.Context()), c.want)
		closeArchive(t, a)
	}
}

// selections notes what a backend is asked for.
type selections struct {
	archive.Backend
	asked []archive.Selection
}

func (b *selections) Select(ctx context.Context, s archive.Selection) ([]archive.Row, error) {
	b.asked = append(b.asked, s)
	return b.Backend.Select(ctx, s)
}

// Has reads keys alone: no message, however large.
func TestHas(t *testing.T) {
	b := &selections{Backend: archive.NewMemory()}
	a := newArchive(t, b, archive.Options{})
	row := archivetest.Numbered(1, 1, 8)
	if _, err := b.Insert(t.Context(), []archive.Row{row}); err != nil {
		t.Fatal(err)
	}
	for h, want := range map[message.Hash]bool{row.Key.Hash: true, {1}: false} {
		if has, err := a.Has(t.Context(), h); err != nil || has != want {
			t.Errorf("%s: %v, %v, want %v", h, has, err, want)
		}
	}
	for _, s := range b.asked {
		if s.Data || s.Limit != 1 {
			t.Errorf("selects %+v", s)
		}
	}
	closeArchive(t, a)
	if _, err := a.Has(t.Context(), row.Key.Hash); !errors.Is(err, archive.ErrClosed) {
		t.Errorf("closed: %v", err)
	}
}
