package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/sethvargo/go-retry"

	"github.com/msgpath/msgpath/archive"
)

// Waits between the attempts of an insert: the first, and the longest, to which
// they double.
const (
	firstWait = 50 * time.Millisecond
	lastWait  = 2 * time.Second
)

// passing are the errors of a server, by SQLSTATE, after which the same may work
// on a new connection. A class is two characters.
var passing = map[string]bool{
	"08":    true, // connection exceptions
	"25006": true, // read-only: a standby, until it is promoted or another answers
	"25P03": true, // idle in a transaction for too long: this process was suspended
	"40001": true, // serialization failure
	"40P01": true, // deadlock
	"53300": true, // too many connections
	"55P03": true, // lock not available
	"57014": true, // statement timeout, or told to cancel
	"57P01": true, // shut down by an administrator
	"57P02": true, // another of the server's processes crashed
	"57P03": true, // starting up or shutting down
	"57P05": true, // idle for too long
}

// passes reports whether what failed with err may work later, with nothing done
// about it here.
func passes(err error) bool {
	var server *pgconn.PgError
	if errors.As(err, &server) { // also of a server that answers, and refuses
		return passing[server.Code] || len(server.Code) == 5 && passing[server.Code[:2]]
	}
	var connect *pgconn.ConnectError
	var network net.Error
	return errors.As(err, &connect) || errors.As(err, &network) || errors.Is(err, errUndecided) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.Is(err, pgconn.ErrConnClosed) || errors.Is(err, context.DeadlineExceeded)
}

// persist attempts to write until it works, until its error will not pass, until ctx
// ends and no commit is lost, or until the server has been away for Options.Patience:
// then each further insert has one attempt, so that a full queue is not waited for
// message by message.
func (d *Database) persist(ctx context.Context, attempt func(context.Context) (lost bool, err error)) error {
	waits := retry.WithJitterPercent(20, retry.WithCappedDuration(lastWait, retry.NewExponential(firstWait)))
	for {
		lost, err := attempt(ctx)
		if ctx.Err() != nil && errors.Is(err, context.Canceled) {
			return err // which says nothing about the server
		}
		if err == nil || !passes(err) {
			d.away.end(d.options.Logger)
			return err
		}
		left := d.options.Patience - d.away.begin(err, d.options.Logger)
		if left <= 0 {
			return fmt.Errorf("given up after %v: %w", d.options.Patience, err)
		}
		if lost {
			ctx = context.WithoutCancel(ctx)
		}
		wait, _ := waits.Next()
		select {
		case <-time.After(min(wait, left)):
		case <-ctx.Done():
			return err
		case <-d.closing:
			return fmt.Errorf("%w while waiting: %w", archive.ErrClosed, err)
		}
	}
}

// An outage says why inserts wait, or have given up.
type outage struct {
	mu    sync.Mutex
	why   error // nil: they work
	since time.Time
}

// begin says that the server is away, and returns for how long it has been.
func (o *outage) begin(why error, log *slog.Logger) time.Duration {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.why == nil {
		o.since = time.Now()
		log.Warn("postgres is away, writes wait", "error", why)
	}
	o.why = why
	return time.Since(o.since)
}

// end says that the server answers.
func (o *outage) end(log *slog.Logger) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.why != nil {
		log.Info("postgres is back", "after", time.Since(o.since))
	}
	o.why = nil
}

func (o *outage) reason() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.why != nil {
		return fmt.Errorf("postgres: away: %w", o.why)
	}
	return nil
}
