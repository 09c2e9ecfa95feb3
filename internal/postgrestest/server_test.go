package postgrestest

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(Main(m)) }

// connect returns a connection that ends with the test.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) }) // the server may have ended it
	return conn
}

// keep makes a table in the database at url.
func keep(t *testing.T, url string) {
	t.Helper()
	if _, err := connect(t, url).Exec(t.Context(), "CREATE TABLE kept AS SELECT 7 AS n"); err != nil {
		t.Fatal(err)
	}
}

func TestDatabasesAreApart(t *testing.T) {
	a, b := Database(t), Database(t)
	keep(t, a)
	keep(t, b)
}

// What was committed is there after each way of ending.
func TestRestart(t *testing.T) {
	s := Start(t)
	keep(t, s.URL())
	for name, end := range map[string]func() error{"stop": s.Stop, "kill": s.Kill} {
		if err := end(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if conn, err := pgx.Connect(t.Context(), s.URL()); err == nil {
			t.Fatalf("%s: it answers: %v", name, conn.Close(t.Context()))
		}
		if err := s.Start(t.Context()); err != nil {
			t.Fatalf("start after %s: %v", name, err)
		}
		var n int
		if err := connect(t, s.URL()).QueryRow(t.Context(), "SELECT n FROM kept").Scan(&n); err != nil || n != 7 {
			t.Errorf("after %s: got %d, %v", name, n, err)
		}
	}
}
