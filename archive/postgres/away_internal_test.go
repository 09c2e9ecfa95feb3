package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/internal/postgrestest"
)

// Once the server has been away for longer than patience, an insert has one attempt.
func TestOneAttemptAfterPatience(t *testing.T) {
	server := postgrestest.Start(t)
	d, err := Options{Logger: slog.New(slog.DiscardHandler)}.Open(t.Context(), server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	d.away.why, d.away.since = io.EOF, time.Now().Add(-DefaultPatience)
	ctx, cancel := context.WithTimeout(t.Context(), DefaultPatience/2)
	defer cancel()
	_, err = d.Insert(ctx, []archive.Row{archivetest.Numbered(1, 1, 8)})
	if err == nil || !strings.Contains(err.Error(), "given up") || ctx.Err() != nil {
		t.Errorf("insert: %v, want it given up at once", err)
	}
}

// An insert that its caller ends tells neither that the server is away nor that it is
// back.
func TestEndedInsertTellsNothing(t *testing.T) {
	d := filled(t, 0)
	d.options.Logger = slog.New(slog.DiscardHandler)
	for _, why := range []error{nil, io.EOF} {
		d.away.why = why
		holder, err := d.reader.Begin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := holder.Exec(t.Context(), "LOCK TABLE messages"); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { _, err := d.Insert(ctx, []archive.Row{archivetest.Numbered(1, 1, 8)}); done <- err }()
		for waiting := false; !waiting; {
			if err := d.reader.QueryRow(t.Context(), "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted)").Scan(&waiting); err != nil {
				t.Fatal(err)
			}
		}
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("insert: %v, want it canceled", err)
		}
		if got := d.Ready(); !errors.Is(got, why) {
			t.Errorf("ready: %v, was %v before", got, why)
		}
		if err := holder.Rollback(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// What passes is told by the SQLSTATE, whatever the text says.
func TestPasses(t *testing.T) {
	state := func(code string) error {
		return fmt.Errorf("x: %w", &pgconn.PgError{Code: code, Message: "terminating connection"})
	}
	for _, code := range []string{"08006", "08P01", "57P01", "57P02", "57P03", "40P01", "40001", "53300", "57014", "25P03", "25006"} {
		if !passes(state(code)) {
			t.Errorf("SQLSTATE %s does not pass", code)
		}
	}
	for _, code := range []string{"42P01", "28P01", "3D000", "53100", "23514", "57000", "", "0"} {
		if passes(state(code)) {
			t.Errorf("SQLSTATE %s passes", code)
		}
	}
	for err, want := range map[error]bool{
		io.EOF: true, io.ErrUnexpectedEOF: true, errUndecided: true, context.DeadlineExceeded: true, pgconn.ErrConnClosed: true,
		context.Canceled: false, errors.New("connection refused"): false,
	} {
		if passes(err) != want {
			t.Errorf("%v passes: %v, want %v", err, !want, want)
		}
	}
}
