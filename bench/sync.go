package bench

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/storesync"
	"github.com/msgpath/msgpath/storesync/negentropy"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/study"
)

// DefaultSyncRuns is how many sessions [Sync] holds for each row.
const DefaultSyncRuns = 5

// MaxSyncSize is the most ids of a store. Two stores of as many take 850 MB.
const MaxSyncSize = 10_000_000

// syncGap is how many ids a store lacks that was away.
const syncGap = 10_000

// DefaultSyncSizes returns how many ids the stores of [Sync] have.
func DefaultSyncSizes() []int { return []int{10_000, 100_000, 1_000_000} }

// SyncOptions say what [Sync] measures. The zero value is a default.
type SyncOptions struct {
	Sizes []int  // numbers of ids that both stores would have without a difference; none: DefaultSyncSizes
	Runs  int    // sessions of each row; 0: DefaultSyncRuns
	Seed  uint64 // of ids and syncDifferences; 0: DefaultSeed

	CommandLine []string  // told in the result
	Progress    io.Writer // as Options.Progress
}

// Validate reports everything wrong with o.
func (o SyncOptions) Validate() error {
	var errs []error
	for i, n := range o.Sizes {
		if n < 1 || n > MaxSyncSize {
			errs = append(errs, fmt.Errorf("bench: sync: size %d: want 1 to %d", n, MaxSyncSize))
		}
		if slices.Contains(o.Sizes[:i], n) {
			errs = append(errs, fmt.Errorf("bench: sync: size %d is given twice", n))
		}
	}
	if o.Runs < 0 {
		errs = append(errs, fmt.Errorf("bench: sync: %d runs", o.Runs))
	}
	return errors.Join(errs...)
}

func (o SyncOptions) withDefaults() SyncOptions {
	if len(o.Sizes) == 0 {
		o.Sizes = DefaultSyncSizes()
	}
	if o.Runs == 0 {
		o.Runs = DefaultSyncRuns
	}
	if o.Seed == 0 {
		o.Seed = DefaultSeed
	}
	return o
}

// syncDifference is what one of two stores lacks of the other, and how much of it is
// told in a frame.
type syncDifference struct {
	where      string
	ids        int
	frameBytes int // 0: no limit
}

const (
	scattered = "scattered"
	newest    = "newest"
)

// differences returns those that stores of n ids can have. A limit on frames is
// tried where there is enough to fill some.
func differences(n int) (all []syncDifference) {
	for _, d := range []syncDifference{
		{scattered, 0, 0},
		{scattered, 1, 0},
		{scattered, 100, 0},
		{scattered, 10_000, 0},
		{scattered, 10_000, 64 << 10},
		{scattered, 10_000, negentropy.MinFrameBytes},
		{newest, syncGap, 0},
		{newest, syncGap, 64 << 10},
		{newest, syncGap, negentropy.MinFrameBytes},
	} {
		if d.ids <= n {
			all = append(all, d)
		}
	}
	return all
}

// Sync measures what it costs two stores of a node's keys to find what they do not
// share: for each size, differences that are scattered, half of them on either
// side, and one where the initiator lacks the newest ids. Each session is between
// snapshots of two sets in one process, without a network. One that does not find
// exactly the differences ends it with an error that wraps verdict.ErrInvalid. The
// end of ctx leaves nothing.
func Sync(ctx context.Context, o SyncOptions) (study.Study, error) {
	if err := o.Validate(); err != nil {
		return study.Study{}, err
	}
	o = o.withDefaults()
	environment, err := ReadEnvironment(o.CommandLine, "")
	if err != nil {
		return study.Study{}, err
	}
	steps := 0
	for _, n := range o.Sizes {
		steps += 1 + len(differences(n))
	}
	progress := NewProgress(o.Progress, steps)
	defer progress.Done()
	var result syncResult
	for _, n := range o.Sizes {
		progress.Step(fmt.Sprintf("fill two sets of %d ids", n))
		stores, fill, err := fillStores(ctx, n, o.Seed)
		if err != nil {
			return study.Study{}, fmt.Errorf("bench: sync: %d ids: %w", n, err)
		}
		result.fills = append(result.fills, fill)
		for _, d := range differences(n) {
			progress.Step(fmt.Sprintf("%d ids, %d %s", n, d.ids, d.where))
			m, err := stores.measure(ctx, d, o.Runs)
			if err != nil {
				return study.Study{}, fmt.Errorf("bench: sync: %d ids, %d %s, frames of %d bytes: %w", n, d.ids, d.where, d.frameBytes, err)
			}
			result.rows = append(result.rows, m)
		}
	}
	return result.study(environment), nil
}

// syncStores are two sets, which are the same unless one lacks something.
type syncStores struct {
	keys   []message.Key     // of both, ascending
	sets   [2]*storesync.Set // the initiator's and the responder's
	random *rand.Rand
}

// syncSince is the time of the first message: 2026-01-01. The others follow, one
// in each millisecond, as a busy node has them.
var syncSince = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC).UnixNano()

// syncFill is what it cost to make and have two sets of ids in ascending order.
type syncFill struct {
	ids         int
	insertNanos float64 // a key
	heapBytes   float64 // a key
	snapshot    time.Duration
}

// fillStores returns two sets of n keys, and what they cost.
func fillStores(ctx context.Context, n int, seed uint64) (*syncStores, syncFill, error) {
	s := &syncStores{keys: make([]message.Key, n), random: rand.New(rand.NewPCG(seed, uint64(n)))}
	for i := range s.keys {
		s.keys[i].Timestamp = syncSince + int64(i)*1e6 + s.random.Int64N(1e6)
		for at := 0; at < len(s.keys[i].Hash); at += 8 {
			binary.LittleEndian.PutUint64(s.keys[i].Hash[at:], s.random.Uint64())
		}
	}
	meter := NewMeter(0)
	var run verdict.Run
	meter.Start()
	for side := range s.sets {
		s.sets[side] = new(storesync.Set)
		for i, k := range s.keys {
			if i%10_000 == 0 && ctx.Err() != nil {
				return nil, syncFill{}, ctx.Err()
			}
			s.sets[side].Insert(k)
		}
	}
	meter.Stop(&run)
	began := time.Now()
	s.sets[0].Snapshot(0, math.MaxInt64)
	return s, syncFill{
		ids:         n,
		insertNanos: float64(run.WallNanos) / float64(2*n),
		heapBytes:   float64(run.LiveDelta) / float64(2*n),
		snapshot:    time.Since(began),
	}, nil
}

// lacks returns what each side is to lack.
func (s *syncStores) lacks(d syncDifference) (lacks [2][]message.Key) {
	if d.where == newest {
		lacks[0] = s.keys[len(s.keys)-d.ids:]
		return lacks
	}
	for i, at := range s.random.Perm(len(s.keys))[:d.ids] {
		lacks[i%2] = append(lacks[i%2], s.keys[at])
	}
	return lacks
}

// syncRow is sessions about one difference. All went alike but in time.
type syncRow struct {
	size int // ids in both stores together
	syncDifference
	session syncSession
	millis  []float64 // of each session, in the order of measuring
}

// measure holds sessions about a difference, and leaves the sets without it.
func (s *syncStores) measure(ctx context.Context, d syncDifference, runs int) (syncRow, error) {
	lacks := s.lacks(d)
	for side, set := range s.sets {
		for _, k := range lacks[side] {
			set.Delete(k)
		}
	}
	m := syncRow{size: len(s.keys), syncDifference: d}
	for range runs {
		collect()
		began := time.Now()
		session, err := s.session(ctx, negentropy.Limits{FrameBytes: d.frameBytes})
		if err != nil {
			return syncRow{}, err
		}
		m.millis = append(m.millis, time.Since(began).Seconds()*1e3)
		if err := errors.Join(
			exactly("only the initiator has", session.found.Have, lacks[1]),
			exactly("only the responder has", session.found.Need, lacks[0]),
		); err != nil {
			return syncRow{}, fmt.Errorf("%w: %w", verdict.ErrInvalid, err)
		}
		m.session = session
	}
	for side, set := range s.sets {
		for _, k := range lacks[side] {
			set.Insert(k)
		}
	}
	return m, nil
}

// syncSession is one session, from the initiator's side.
type syncSession struct {
	found          negentropy.Diff
	rounds         int
	sent, received int // bytes
	longest        int // frame, in bytes
}

// session holds one session between snapshots of the two sets.
func (s *syncStores) session(ctx context.Context, limits negentropy.Limits) (syncSession, error) {
	initiator, errI := negentropy.NewInitiator(s.sets[0].Snapshot(0, math.MaxInt64), limits)
	responder, errR := negentropy.NewResponder(s.sets[1].Snapshot(0, math.MaxInt64), limits)
	if err := errors.Join(errI, errR); err != nil {
		return syncSession{}, err
	}
	var session syncSession
	frame, err := initiator.Start()
	for frame != nil && err == nil {
		if err := ctx.Err(); err != nil {
			return syncSession{}, err
		}
		var answer []byte
		var found negentropy.Diff
		if answer, err = responder.Step(frame); err != nil {
			break
		}
		session.add(frame, answer)
		frame, found, err = initiator.Step(answer)
		session.found.Have = append(session.found.Have, found.Have...)
		session.found.Need = append(session.found.Need, found.Need...)
	}
	return session, err
}

// add counts a round.
func (s *syncSession) add(frame, answer []byte) {
	s.rounds++
	s.sent += len(frame)
	s.received += len(answer)
	s.longest = max(s.longest, len(frame), len(answer))
}

// exactly is an error unless ids are those of the keys, each once.
func exactly(what string, ids []message.Hash, keys []message.Key) error {
	var want []message.Hash
	for _, k := range keys {
		want = append(want, k.Hash)
	}
	got := slices.Clone(ids)
	for _, list := range [][]message.Hash{got, want} {
		slices.SortFunc(list, func(a, b message.Hash) int { return bytes.Compare(a[:], b[:]) })
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("what %s: found %d ids, want %d, or others", what, len(got), len(want))
	}
	return nil
}
