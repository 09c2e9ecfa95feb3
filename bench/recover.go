package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
	"github.com/msgpath/msgpath/storesync/p2p"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/study"
)

// DefaultRecoverRuns is how often [Recover] measures each scenario.
const DefaultRecoverRuns = 3

// recoverBefore is how many messages a node has before it is cut off.
const recoverBefore = 50

// recoverPause is how long a node stays away after the last message: gossipsub
// still tells of those of its last five heartbeats, a second each.
const recoverPause = 7 * time.Second

// recoverLongest is the most that one run takes.
const recoverLongest = 10 * time.Minute

// RecoverOptions say what [Recover] measures. The zero value is a default.
type RecoverOptions struct {
	Messages int     // that a node lacks or is sent too fast; 0: DefaultMessages
	Profile  Profile // payload sizes; none: DefaultProfile
	Runs     int     // of each scenario; 0: DefaultRecoverRuns
	Seed     uint64  // of the workload; 0: DefaultSeed
	Path     string  // of all nodes: baseline, envelope or zerocopy; "": zerocopy
	Hash     message.Algorithm

	CommandLine []string     // told in the result
	Logger      *slog.Logger // of the nodes; nil: discarded
	Progress    io.Writer    // as Options.Progress
}

// Validate reports everything wrong with o.
func (o RecoverOptions) Validate() error {
	o = o.withDefaults()
	_, err := relay.ParsePath(o.Path)
	errs := []error{o.Profile.Validate(), err, message.Format{Hash: o.Hash}.Validate()}
	if o.Messages < 1 {
		errs = append(errs, fmt.Errorf("bench: recover: %d messages: want at least 1", o.Messages))
	}
	if o.Runs < 1 {
		errs = append(errs, fmt.Errorf("bench: recover: %d runs: want at least 1", o.Runs))
	}
	return errors.Join(errs...)
}

func (o RecoverOptions) withDefaults() RecoverOptions {
	if o.Messages == 0 {
		o.Messages = DefaultMessages
	}
	if len(o.Profile.Sizes) == 0 {
		o.Profile = DefaultProfile()
	}
	if o.Runs == 0 {
		o.Runs = DefaultRecoverRuns
	}
	if o.Seed == 0 {
		o.Seed = DefaultSeed
	}
	if o.Path == "" {
		o.Path = relay.ReachNode.String()
	}
	return o
}

// Scenarios of [Recover].
const (
	recoverAway = "away"
	recoverSlow = "slow subscriber"
)

// Recover measures how a node gets by store-sync what gossip did not bring it. Of
// three nodes that archive on loopback TCP, A publishes, B has everything, and C is
// cut off while messages pass, or so slow that gossipsub drops them. Then C syncs
// with B. Archives and sync sets of all three must then hold exactly what was
// published, under the hashes recomputed from it, and C's application must have
// been given each once: else the error wraps verdict.ErrInvalid.
func Recover(ctx context.Context, o RecoverOptions) (study.Study, error) {
	if err := o.Validate(); err != nil {
		return study.Study{}, err
	}
	o = o.withDefaults()
	environment, err := ReadEnvironment(o.CommandLine, "")
	if err != nil {
		return study.Study{}, err
	}
	progress := NewProgress(o.Progress, 2*o.Runs)
	defer progress.Done()
	var result recoverResult
	for range o.Runs {
		for _, scenario := range []string{recoverAway, recoverSlow} {
			progress.Step(scenario)
			r, err := recoverOnce(ctx, o, scenario)
			if errors.Is(err, errInvalid) {
				err = fmt.Errorf("%w: %w", verdict.ErrInvalid, err)
			}
			if err != nil {
				return study.Study{}, fmt.Errorf("bench: recover: %s: %w", scenario, err)
			}
			result.runs = append(result.runs, r)
		}
	}
	return result.study(environment), nil
}

// recoverRun is what one run measured.
type recoverRun struct {
	scenario   string
	messages   int   // that C lacked
	floor      int64 // bytes of their payloads
	dropped    uint64
	sessions   int
	report     p2p.Report // of all sessions together
	fetched    time.Duration
	stored     time.Duration // and given to the application
	sent, came []counters.SiteCounts
}

// recovery is the three nodes of a run.
type recovery struct {
	options  RecoverOptions
	folder   string
	messages []*pb.WakuMessage
	want     map[message.Key]bool
	numbers  *Numbers
	times    []atomic.Int32 // how often C's application was given each message
	a, b, c  *running
	arrived  chan struct{} // one for each message that C's application was given
	gate     chan struct{} // C's application waits for its end
}

func recoverOnce(ctx context.Context, o RecoverOptions, scenario string) (r recoverRun, err error) {
	folder, err := os.MkdirTemp("", "msgpath-recover-")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	ctx, cancel := context.WithTimeoutCause(ctx, recoverLongest, fmt.Errorf("%s: not over after %v", scenario, recoverLongest))
	defer cancel()
	w := NewWorkload(o.Seed, o.Profile, PubsubTopic, recoverBefore+o.Messages, time.Now(), 0)
	n := &recovery{
		options: o, folder: folder, messages: w.Messages, want: make(map[message.Key]bool),
		numbers: NewNumbers(w.Messages), times: make([]atomic.Int32, len(w.Messages)),
		arrived: make(chan struct{}, 2*len(w.Messages)), gate: make(chan struct{}),
	}
	for _, m := range w.Messages {
		sum := o.Hash.Sum(PubsubTopic, m) //msgpath:uncounted of what is published, before the run
		n.want[message.Key{Timestamp: m.GetTimestamp(), Hash: sum}] = true
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	if err := n.start(ctx, scenario); err != nil {
		return r, err
	}
	if scenario == recoverAway {
		err = n.miss(ctx)
	} else {
		err = n.overrun(ctx)
	}
	if err != nil {
		return r, err
	}
	if r, err = n.recover(ctx); err != nil {
		return r, err
	}
	r.scenario = scenario
	return r, n.verify(ctx)
}

func (n *recovery) node(name string) node.Options {
	o := node.Options{Archive: "sqlite:" + filepath.Join(n.folder, name+".db"), Sync: true, Listen: []string{loopback}, Logger: n.options.Logger}
	o.Relay.Reach, _ = relay.ParsePath(n.options.Path) // validated
	o.Relay.Hash = n.options.Hash
	o.SyncOptions = p2p.Options{Settle: time.Nanosecond}
	return o
}

// start starts the nodes, with the other two in A's mesh.
func (n *recovery) start(ctx context.Context, scenario string) (err error) {
	ignore := func(context.Context, *message.Envelope) error { return nil }
	if n.a, err = start(ctx, "A", verdict.RolePublisher, n.node("A"), ignore, nil); err != nil {
		return err
	}
	if n.b, err = start(ctx, "B", verdict.RoleReceiver, n.node("B"), ignore, nil); err != nil {
		return err
	}
	o := n.node("C")
	if scenario == recoverSlow {
		o.Relay.Subscription, o.ArchiveQueue, o.ArchiveBatch = 1, 1, 1
	} else {
		close(n.gate)
	}
	if err := n.startC(ctx, o); err != nil {
		return err
	}
	for _, r := range []*running{n.b, n.c} {
		if err := r.Connect(ctx, n.a.AddrInfo()); err != nil {
			return err
		}
		if err := r.Relay().WaitMesh(ctx, PubsubTopic, 1); err != nil {
			return err
		}
	}
	return n.a.Relay().WaitMesh(ctx, PubsubTopic, 2)
}

func (n *recovery) startC(ctx context.Context, o node.Options) (err error) {
	n.c, err = start(ctx, "C", verdict.RoleReceiver, o, func(ctx context.Context, env *message.Envelope) error {
		m, err := env.Message(siteApp) // decoded already
		if err != nil {
			return err
		}
		if number, ok := n.numbers.Of(m); ok {
			n.times[number].Add(1)
		}
		n.arrived <- struct{}{}
		select {
		case <-n.gate:
		case <-ctx.Done():
		}
		return nil
	}, nil)
	return err
}

// miss has C stop, and start again when the messages that it is to lack are
// past.
func (n *recovery) miss(ctx context.Context) error {
	if err := n.publish(ctx, 0, recoverBefore); err != nil {
		return err
	}
	if err := n.given(ctx, recoverBefore); err != nil {
		return err
	}
	if err := n.c.stop(); err != nil {
		return err
	}
	if err := n.publish(ctx, recoverBefore, len(n.messages)); err != nil {
		return err
	}
	select {
	case <-time.After(recoverPause):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	return n.startC(ctx, n.node("C"))
}

// overrun publishes while C's application is stuck, and lets it go on when C has
// received or dropped everything.
func (n *recovery) overrun(ctx context.Context) error {
	if err := n.publish(ctx, 0, len(n.messages)); err != nil {
		return err
	}
	if err := until(ctx, func() bool {
		s, sent := n.c.Relay().Stats()[0], n.a.Relay().Stats()[0]
		return s.Received-s.Duplicates+sent.SendDropped >= uint64(len(n.messages))
	}); err != nil {
		return err
	}
	close(n.gate)
	return until(ctx, func() bool {
		s := n.c.Relay().Stats()[0]
		return s.Received-s.Duplicates == s.Delivered+s.Dropped()
	})
}

// publish publishes messages as fast as B stores them.
func (n *recovery) publish(ctx context.Context, from, to int) error {
	for i := from; i < to; i++ {
		if _, err := n.a.Relay().Publish(ctx, PubsubTopic, n.messages[i]); err != nil {
			return err
		}
		if err := until(ctx, func() bool { return n.b.delivered.Load()+DefaultWindow > uint64(i) }); err != nil {
			return err
		}
	}
	return until(ctx, func() bool { return n.b.delivered.Load() == uint64(to) && n.a.delivered.Load() == uint64(to) })
}

// until returns when what it looks at, again and again, is so.
func until(ctx context.Context, so func() bool) error {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !so() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// given waits until C's application was given so many more messages.
func (n *recovery) given(ctx context.Context, messages int) error {
	for range messages {
		select {
		case <-n.arrived:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	return nil
}

// recover syncs C with B, and returns when C's application has it all.
func (n *recovery) recover(ctx context.Context) (r recoverRun, err error) {
	lacks := make(map[message.Key]bool, len(n.want))
	for k := range n.want {
		lacks[k] = !n.c.SyncSet().Has(k)
	}
	for i, m := range n.messages {
		sum := n.options.Hash.Sum(PubsubTopic, n.messages[i]) //msgpath:uncounted to tell what is lacking, before the measured part
		if lacks[message.Key{Timestamp: m.GetTimestamp(), Hash: sum}] {
			r.messages++
			r.floor += int64(len(m.GetPayload()))
		}
	}
	s := n.c.Relay().Stats()[0]
	if r.dropped = s.Dropped() + n.a.Relay().Stats()[0].SendDropped; r.messages == 0 {
		return r, invalid("node C lacks nothing: %d messages dropped", r.dropped)
	}
	for len(n.arrived) > 0 {
		<-n.arrived
	}
	if err := n.c.Connect(ctx, n.b.AddrInfo()); err != nil {
		return r, err
	}
	collect()
	before := [2][]counters.SiteCounts{counters.Load(n.b.counts), counters.Load(n.c.counts)}
	began := time.Now()
	for more := true; more; r.sessions++ {
		report, err := n.c.Syncer().Sync(ctx, n.b.ID())
		if err != nil {
			return r, err
		}
		r.add(report)
		more = report.More
	}
	r.fetched = time.Since(began)
	if err := n.given(ctx, r.report.Received); err != nil {
		return r, err
	}
	r.stored = time.Since(began)
	r.sent, r.came = counters.Since(before[0], counters.Load(n.b.counts)), counters.Since(before[1], counters.Load(n.c.counts))
	if r.report.Received != r.messages {
		return r, invalid("%d messages lacking, %d received", r.messages, r.report.Received)
	}
	return r, nil
}

func (r *recoverRun) add(s p2p.Report) {
	r.report.Rounds += s.Rounds
	r.report.BytesIn += s.BytesIn
	r.report.BytesOut += s.BytesOut
	r.report.Received += s.Received
}

// verify compares all archives and sets with what was published.
func (n *recovery) verify(ctx context.Context) error {
	for _, r := range []*running{n.a, n.b, n.c} {
		if err := verifyArchive(ctx, r.Archive(), n.options.Hash, n.want); err != nil {
			return fmt.Errorf("node %s: %w", r.name, err)
		}
		if err := verifyKeys("sync set", r.SyncSet().Keys(), n.want); err != nil {
			return fmt.Errorf("node %s: %w", r.name, err)
		}
	}
	for number := range n.times {
		if times := n.times[number].Load(); times != 1 {
			return invalid("node C's application was given message %d %d times", number, times)
		}
	}
	return nil
}

func (n *recovery) stop() error {
	select {
	case <-n.gate:
	default:
		close(n.gate)
	}
	return errors.Join(n.a.stop(), n.b.stop(), n.c.stop())
}
