package postgres_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/msgpath/msgpath/archive/postgres"
	"github.com/msgpath/msgpath/internal/postgrestest"
)

const secret = "hunter2"

func TestOptions(t *testing.T) {
	err := postgres.Options{Patience: -1, Timeout: time.Microsecond, Readers: -2}.Validate()
	for _, want := range []string{"Patience", "Timeout", "Readers"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: does not name %s", err, want)
		}
	}
}

// What is wrong with a URL is said without the password, wherever it stands.
func TestBadURLs(t *testing.T) {
	for url, want := range map[string]string{
		"":                                        "want postgres://",
		"archive.db":                              "want postgres://",
		"mysql://root:" + secret + "@h/db":        "want postgres://",
		"postgres://u:" + secret + "/db":          "port",
		"postgres://u:" + secret + "@h:99999/db":  "port",
		"postgres://u:" + secret + "@h:x/db":      "port",
		"postgres://u:%zz" + secret + "@h/db":     "URL",
		"postgres://u:" + secret + "@[::1/db":     "URL",
		"postgresql://h/db?password=%" + secret:   "URL",
		"postgres://h/db?sslmode=" + secret:       "TLS",
		"host=h password='" + secret:              "keyword",
		"host=h port=" + secret + " password=x":   "port",
		"postgres://h?connect_timeout=" + secret:  "connect_timeout",
		"host=h target_session_attrs=" + secret:   "target_session_attrs",
		"postgres://h?pool_max_conns=" + secret:   "pool_max_conns",
		"password=" + secret + " pool_max_conns=": "pool_max_conns",

		"postgres://u:a@" + secret + "@127.0.0.1:1/db":       "percent-encode the password",
		"postgres://u:1/" + secret + "@127.0.0.1/db":         "percent-encode the password",
		"postgresql://u:1/" + secret + "?a=b@127.0.0.1/db":   "percent-encode the password",
		"postgres://u:1/" + secret + "@":                     "percent-encode the password",
		"postgres://u:x@127.0.0.1:1,u:" + secret + "@[::1]/": "percent-encode the password",
	} {
		err := postgres.Check(url)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), secret) {
			t.Errorf("check %q: error %v, want one that tells of %q and no secret", url, err, want)
		}
		if _, err := postgres.Open(t.Context(), url); err == nil || strings.Contains(err.Error(), secret) {
			t.Errorf("open %q: %v", url, err)
		}
	}
	for _, url := range []string{
		"postgres://h/db", "postgresql://u:p@h:5433,i/db?sslmode=require", "host=/tmp dbname=db",
		"postgres://u%40azure:a%40b%2Fc@h/d%40b", "postgres:///db?host=/tmp", "host=h user=u password=a@b/c",
	} {
		if err := postgres.Check(url); err != nil {
			t.Errorf("check %q: %v", url, err)
		}
	}
}

// A server's refusal is an error at once, matched by its SQLSTATE.
func TestRefusals(t *testing.T) {
	url := postgrestest.Database(t)
	for name, c := range map[string]struct{ url, state string }{
		"no such database": {strings.Replace(url, "/test_", "/none_", 1), "3D000"},
		"wrong password":   {strings.Replace(url, "msgpath:", "msgpath:"+secret, 1), "28P01"},
	} {
		_, err := postgres.Open(t.Context(), c.url)
		var refusal *pgconn.PgError
		if !errors.As(err, &refusal) || refusal.Code != c.state || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, want SQLSTATE %s", name, err, c.state)
		}
	}
	d := open(t, url)
	exec(t, connect(t, url), "ALTER TABLE messages RENAME TO others")
	_, err := d.Insert(t.Context(), rows(0, 2))
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Code != "42P01" {
		t.Errorf("insert into no table: %v, want SQLSTATE 42P01", err)
	}
	if err := d.Ready(); err != nil {
		t.Errorf("waits for a server that refuses: %v", err)
	}
	exec(t, connect(t, url), "ALTER TABLE others RENAME TO messages")
	(<-insert(t.Context(), d, rows(0, 2))).requireFresh(t, 2)
}

// A table of another program is not touched.
func TestTableOfAnother(t *testing.T) {
	url := postgrestest.Database(t)
	exec(t, connect(t, url), "CREATE TABLE messages (id text)")
	_, err := postgres.Open(t.Context(), url)
	var refusal *pgconn.PgError
	if !errors.As(err, &refusal) || refusal.Code != "42P07" {
		t.Errorf("open: %v, want SQLSTATE 42P07", err)
	}
}
