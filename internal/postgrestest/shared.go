package postgrestest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

// shared is the server of the test binary.
var shared struct {
	sync.Mutex
	server *Server
	err    error
}

// Database returns the URL of an empty database on the test binary's server, which
// [Main] stops.
func Database(t testing.TB) string {
	t.Helper()
	s := common(t)
	u, err := s.Create(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func common(t testing.TB) *Server {
	t.Helper()
	need(t)
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = Options{}.Launch(context.Background())
	}
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.server
}

// Start returns a server of the test's own, which ends with it.
func Start(t testing.TB) *Server {
	t.Helper()
	need(t)
	s, err := Options{}.Launch(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// need skips t where there is no PostgreSQL, or fails it where that is asked for.
func need(t testing.TB) {
	t.Helper()
	_, err := binaries()
	switch {
	case err == nil:
	case os.Getenv("MSGPATH_REQUIRE_POSTGRES") == "1":
		t.Fatalf("PostgreSQL is required: %v", err)
	default:
		t.Skipf("NOT CHECKED ON POSTGRESQL: %v", err)
	}
}

// tests is a testing.M, or what runs one.
type tests interface{ Run() int }

// Main returns tests that also stop the server that they shared, for a TestMain
// that looks for goroutines after them.
func Main(m tests) tests { return stopping{m} }

type stopping struct{ tests }

func (s stopping) Run() int {
	code := s.tests.Run()
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return code
	}
	if err := shared.server.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	shared.server, shared.err = nil, errors.New("postgrestest: the tests are over")
	return code
}
