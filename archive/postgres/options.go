package postgres

import (
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Defaults of [Options].
const (
	DefaultPatience = time.Minute
	DefaultTimeout  = 10 * time.Second
	DefaultReaders  = 4
)

// connectTimeout bounds one attempt to connect to one host, unless the URL says
// another.
const connectTimeout = 5 * time.Second

// Options say how a database is used. The zero value holds the defaults.
type Options struct {
	// Patience is how long inserts are tried again while the server is away, counted
	// from the first that fails; then each has one attempt, until one works. It bounds,
	// with these attempts, what a stopping node waits for. 0: DefaultPatience.
	Patience time.Duration

	// Timeout bounds a statement at the server, and idle time within a transaction.
	// Twice as long bounds it on this side, connecting included. 0: DefaultTimeout.
	Timeout time.Duration

	Readers int // most connections that read, beside the one that writes; 0: DefaultReaders

	Logger *slog.Logger // told when the server is away and back; nil: slog.Default()
}

// Validate reports everything wrong with o.
func (o Options) Validate() error {
	var errs []error
	bad := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("postgres: options: "+format, args...))
	}
	if o.Patience < 0 {
		bad("Patience %v is negative", o.Patience)
	}
	if o.Timeout < 0 || o.Timeout > 0 && o.Timeout < time.Millisecond {
		bad("Timeout %v is under 1 ms", o.Timeout)
	}
	if o.Readers < 0 || o.Readers > 1000 {
		bad("Readers %d: want 0 to 1000", o.Readers)
	}
	return errors.Join(errs...)
}

func (o Options) withDefaults() Options {
	if o.Patience == 0 {
		o.Patience = DefaultPatience
	}
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	if o.Readers == 0 {
		o.Readers = DefaultReaders
	}
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	return o
}

// IsURL reports whether name begins as the URL of a PostgreSQL database does.
func IsURL(name string) bool {
	return strings.HasPrefix(name, "postgres://") || strings.HasPrefix(name, "postgresql://")
}

// Check says what is wrong with a URL or keyword string that Open would refuse
// without asking a server; nil if it would ask. The error holds no part of it.
func Check(url string) error {
	_, err := parse(url)
	return err
}

// parse returns what url means, with environment variables and files as in libpq.
func parse(url string) (*pgxpool.Config, error) {
	if !IsURL(url) && !strings.Contains(url, "=") {
		return nil, errors.New("want postgres://USER@HOST:PORT/DATABASE or host=HOST dbname=DATABASE …")
	}
	if IsURL(url) && straysAt(url) {
		return nil, errors.New("@ elsewhere than before the host: percent-encode the password (@ is %40, / is %2F) and any other @")
	}
	c, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, withoutSecrets(err)
	}
	return c, nil
}

// straysAt reports whether a URL has an @ that does not end its user and password. What
// stands before it may be the end of a password, which the driver would take for a part
// of the host or the database, and show.
func straysAt(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	user, rest, ok := strings.Cut(rest, "@")
	return ok && (strings.Contains(user, "/") || strings.Contains(rest, "@"))
}

// withoutSecrets returns what the driver says is wrong with a URL without what it
// cites: where one is malformed, any part of it may be the password.
func withoutSecrets(err error) error {
	const prefix = "cannot parse ``: "
	var parse *pgconn.ParseConfigError
	if !errors.As(err, &parse) {
		return errors.New("not a PostgreSQL URL")
	}
	bare := *parse
	bare.ConnString = ""
	what, ok := strings.CutPrefix(bare.Error(), prefix)
	if !ok {
		return errors.New("not a PostgreSQL URL")
	}
	if i := strings.IndexAny(what, `:("`); i > 0 {
		what = what[:i]
	}
	return fmt.Errorf("%s (the value is not shown: it may be the password)", strings.TrimSpace(what))
}

// pool returns the settings of up to n connections to what base means.
func (o Options) pool(base *pgxpool.Config, n int) *pgxpool.Config {
	c := base.Copy()
	c.MaxConns, c.MinConns, c.MinIdleConns = int32(n), 0, 0
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = connectTimeout
	}
	set := c.ConnConfig.RuntimeParams
	if set["application_name"] == "" {
		set["application_name"] = "msgpath"
	}
	limit := strconv.FormatInt(o.Timeout.Milliseconds(), 10)
	set["statement_timeout"], set["idle_in_transaction_session_timeout"] = limit, limit
	return c
}
