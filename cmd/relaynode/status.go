package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/msgpath/msgpath/node"
)

// Bounds of the HTTP server, which serves one machine's own monitoring.
const (
	headerTime   = 5 * time.Second
	answerTime   = 30 * time.Second
	idleTime     = time.Minute
	shutdownTime = 2 * time.Second
)

// startStatus serves n's status on address, "" for nowhere, and returns how to
// stop that. A server that fails calls failed, and stop has its error.
func startStatus(address string, n *node.Node, logger *slog.Logger, failed func()) (stop func() error, err error) {
	if address == "" {
		return func() error { return nil }, nil
	}
	l, err := listenLoopback(address)
	if err != nil {
		return nil, fmt.Errorf("serve http on %s: %w", address, err)
	}
	s := &http.Server{
		Handler:           n.Handler(),
		ReadHeaderTimeout: headerTime,
		WriteTimeout:      answerTime,
		IdleTimeout:       idleTime,
		ErrorLog:          slog.NewLogLogger(logger.Handler(), slog.LevelWarn),
	}
	served := make(chan error, 1)
	go func() {
		defer failed()
		served <- s.Serve(l)
	}()
	logger.Info("serving http", "address", l.Addr().String())
	return func() error { return shutdown(s, served) }, nil
}

// listenLoopback refuses a name that means another address than it should.
func listenLoopback(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("%v is not a loopback address", l.Addr()), l.Close())
	}
	return l, nil
}

// shutdown lets requests under way end, for a while.
func shutdown(s *http.Server, served <-chan error) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTime)
	defer cancel()
	err := s.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) { // a client that does not read
		err = s.Close()
	}
	if serveErr := <-served; !errors.Is(serveErr, http.ErrServerClosed) {
		err = errors.Join(err, fmt.Errorf("serve http: %w", serveErr))
	}
	return err
}
