package node

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Handler serves GET /metrics for Prometheus, /healthz (200 while Run runs) and
// /readyz (200 while the node has joined its topics and its archive stores);
// else they answer 503 and why. It may serve before, while and after Run runs.
// It is meant for a loopback address: it has no authentication.
func (n *Node) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(n.metrics.registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", answer(n.healthy))
	mux.HandleFunc("GET /readyz", answer(n.prepared))
	return mux
}

func answer(check func() error) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if err := check(); err != nil {
			w.WriteHeader(http.StatusServiceUnavailable)
			fmt.Fprintln(w, err)
			return
		}
		fmt.Fprintln(w, "ok")
	}
}

// Why a node is not healthy or not ready.
var (
	errIdle     = errors.New("node: not started")
	errStarting = errors.New("node: starting")
	errStopping = errors.New("node: stopping")
	errStopped  = errors.New("node: stopped")
)

func (n *Node) healthy() error {
	switch {
	case closed(n.done):
		return errStopped
	case !n.started.Load():
		return errIdle
	}
	return nil
}

func (n *Node) prepared() error {
	err := n.healthy()
	switch {
	case err != nil:
		return err
	case closed(n.stopping):
		return errStopping
	case !closed(n.ready):
		return errStarting
	case n.archive != nil:
		return n.archive.Ready()
	}
	return nil
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
