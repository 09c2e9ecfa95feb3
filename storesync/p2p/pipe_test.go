package p2p

import (
	"net"
	"testing"
	"time"
)

// duplexPipe is one end of a stream in memory.
type duplexPipe = net.Conn

func pipe() (near, far duplexPipe) { return net.Pipe() }

// offline returns a Syncer over a shelf that is not run: its sessions are, over
// streams in memory.
func offline(t testing.TB, s *shelf, o Options) *Syncer {
	t.Helper()
	if o.Settle == 0 {
		o.Settle = time.Nanosecond
	}
	if o.Range == 0 {
		o.Range = 100 * 365 * 24 * time.Hour
	}
	o = o.withDefaults()
	syncer := &Syncer{store: s.store(), opts: o, ledger: newLedger(o), roster: newRoster(o)}
	s.syncer = syncer
	return syncer
}
