package node

import (
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// get asks n's handler for path.
func get(n *Node, path string) (code int, body string) {
	w := httptest.NewRecorder()
	n.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Body.String()
}

func expect(t *testing.T, n *Node, path string, code int, text string) {
	t.Helper()
	c, body := get(n, path)
	if c == code && strings.Contains(body, text) {
		return
	}
	name, _, isMetric := strings.Cut(text, "{")
	for line := range strings.Lines(body) {
		if !isMetric || strings.HasPrefix(line, name) {
			t.Logf("%s: %s", path, line)
		}
	}
	t.Errorf("%s answers %d, want %d and %q", path, c, code, text)
}

func TestHandler(t *testing.T) {
	log := make(records, 1000)
	n, backend := faultyNode(t, Options{Logger: slog.New(log)})
	expect(t, n, "/healthz", http.StatusServiceUnavailable, errIdle.Error())
	expect(t, n, "/readyz", http.StatusServiceUnavailable, errIdle.Error())
	expect(t, n, "/metrics", http.StatusOK, "go_goroutines")

	r := runNode(t, n)
	backend.fault <- func() error { return nil }
	publish(t, r, shard0, 0, 1)
	expect(t, n, "/healthz", http.StatusOK, "ok")

	backend.fault <- func() error { return errors.New("disk full") }
	publish(t, r, shard0, 1, 2)
	log.await(t, "message not delivered")
	expect(t, n, "/healthz", http.StatusOK, "ok")
	expect(t, n, "/readyz", http.StatusServiceUnavailable, "disk full")
	expect(t, n, "/metrics", http.StatusOK, `msgpath_dropped_total{cause="store",topic="/waku/2/rs/0/0"} 1`)

	backend.fault <- func() error { return nil }
	publish(t, r, shard0, 2, 3)
	log.await(t, "archive inserts work again")
	expect(t, n, "/readyz", http.StatusOK, "ok")

	r.stop(t)
	expect(t, n, "/healthz", http.StatusServiceUnavailable, errStopped.Error())
	expect(t, n, "/readyz", http.StatusServiceUnavailable, errStopped.Error())
	expect(t, n, "/metrics", http.StatusOK, `msgpath_archive_messages_total{outcome="stored"} 2`)
	expect(t, n, "/nothing", http.StatusNotFound, "")
}

// A node that stops is not ready any more, and healthy until it has committed
// what it accepted.
func TestHandlerWhileStopping(t *testing.T) {
	log := make(records, 1000)
	n, backend := faultyNode(t, Options{Logger: slog.New(log)})
	r := runNode(t, n)
	release := make(chan struct{})
	backend.fault <- func() error { <-release; return nil }
	publish(t, r, shard0, 0, 1)
	go n.Close()
	log.await(t, "node is stopping")
	expect(t, n, "/healthz", http.StatusOK, "ok")
	expect(t, n, "/readyz", http.StatusServiceUnavailable, errStopping.Error())
	close(release)
	r.stop(t)
	if s := n.Archive().Stats(); s.Stored != 1 {
		t.Errorf("archive counted %+v, want 1 stored", s)
	}
}
