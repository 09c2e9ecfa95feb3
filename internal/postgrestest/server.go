package postgrestest

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/jackc/pgx/v5"
)

// Options say how a server runs. The zero value holds the defaults.
type Options struct {
	Sync bool // synchronise to the disk, as a server that matters does; false: fsync off
}

// role owns the databases.
const role = "msgpath"

// startTimeout bounds the wait for a server to answer or to end.
const startTimeout = time.Minute

// Server is one PostgreSQL server. Its methods are not for concurrent use, but
// URL and Create are.
type Server struct {
	options  Options
	binaries string              // folder
	dir      string              // data, socket, log
	owner    *syscall.Credential // who runs it; nil: who runs this
	password string

	process *os.Process
	ended   chan struct{} // closed when the process has ended
}

// Launch makes a server in a new folder and returns when it answers.
func (o Options) Launch(ctx context.Context) (*Server, error) {
	s, err := o.prepare(ctx)
	if err == nil {
		err = s.Start(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("postgrestest: launch: %w", err), s.Close())
	}
	return s, nil
}

// prepare returns a server that has never run. What it made is there, also on an
// error.
func (o Options) prepare(ctx context.Context) (*Server, error) {
	s := &Server{options: o, password: rand.Text()}
	var err error
	if s.binaries, err = binaries(); err != nil {
		return s, err
	}
	if s.owner, err = owner(); err != nil {
		return s, err
	}
	if s.dir, err = os.MkdirTemp("", "msgpath-postgres-"); err != nil {
		return s, err
	}
	secret := filepath.Join(s.dir, "password")
	if err := os.WriteFile(secret, []byte(s.password), 0o600); err != nil {
		return s, err
	}
	if err := s.give(s.dir, secret); err != nil {
		return s, err
	}
	initdb := s.command(ctx, "initdb", "--pgdata="+s.data(), "--username="+role, "--pwfile="+secret,
		"--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
	if out, err := initdb.CombinedOutput(); err != nil {
		return s, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, nil
}

// give makes names belong to the user that runs the server.
func (s *Server) give(names ...string) (err error) {
	if s.owner != nil {
		for _, name := range names {
			err = errors.Join(err, os.Chown(name, int(s.owner.Uid), int(s.owner.Gid)))
		}
	}
	return err
}

func (s *Server) data() string { return filepath.Join(s.dir, "data") }
func (s *Server) log() string  { return filepath.Join(s.dir, "log") }

// command returns a program of the server's, as the user that runs it.
func (s *Server) command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(s.binaries, name), args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"LC_ALL=C", "PATH=" + os.Getenv("PATH"), "TZ=UTC"}
	cmd.SysProcAttr = attributes(s.owner)
	return cmd
}

// Start starts the server, which does not run, with what its databases hold, and
// returns when it answers.
func (s *Server) Start(ctx context.Context) error {
	log, err := os.OpenFile(s.log(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	sync := "off"
	if s.options.Sync {
		sync = "on"
	}
	process := s.command(context.WithoutCancel(ctx), "postgres", "-D", s.data(), "-k", s.dir,
		"-c", "listen_addresses=", "-c", "fsync="+sync, "-c", "max_connections=100")
	process.Stdout, process.Stderr = log, log
	if err := process.Start(); err != nil {
		return err
	}
	ended := make(chan struct{})
	s.process, s.ended = process.Process, ended
	go func() { _ = process.Wait(); close(ended) }() // how it ended says its log
	return s.await(ctx)
}

// await returns when the server answers. It asks again and again: nothing that
// every version has tells when.
func (s *Server) await(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	ask := time.NewTicker(10 * time.Millisecond)
	defer ask.Stop()
	for {
		err := s.ping(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ask.C:
		case <-s.ended:
			return fmt.Errorf("server ended:\n%s", s.tail())
		case <-ctx.Done():
			return fmt.Errorf("wait for server: %w: %w\n%s", ctx.Err(), err, s.tail())
		}
	}
}

func (s *Server) ping(ctx context.Context) error {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return err
	}
	return conn.Close(ctx)
}

// tail returns the end of the server's log.
func (s *Server) tail() []byte {
	text, _ := os.ReadFile(s.log())
	return bytes.TrimSpace(text[max(0, len(text)-2000):])
}

// URL returns where the server's first database is, with the password.
func (s *Server) URL() string { return s.url("postgres") }

func (s *Server) url(database string) string {
	u := url.URL{
		Scheme: "postgres", User: url.UserPassword(role, s.password), Path: "/" + database,
		RawQuery: url.Values{"host": {s.dir}}.Encode(),
	}
	return u.String()
}

// Create makes an empty database and returns its URL.
func (s *Server) Create(ctx context.Context) (string, error) {
	conn, err := pgx.Connect(ctx, s.URL())
	if err != nil {
		return "", fmt.Errorf("postgrestest: create database: %w", err)
	}
	name := "test_" + rand.Text()
	_, err = conn.Exec(ctx, "CREATE DATABASE "+pgx.Identifier{name}.Sanitize())
	if err = errors.Join(err, conn.Close(ctx)); err != nil {
		return "", fmt.Errorf("postgrestest: create database: %w", err)
	}
	return s.url(name), nil
}

// Stop ends the server in order: it refuses and ends connections and rolls back
// what is not committed.
func (s *Server) Stop() error { return s.end(syscall.SIGINT) }

// Kill ends the server at once, as a crash does: it recovers when it starts.
func (s *Server) Kill() error { return s.end(syscall.SIGQUIT) }

func (s *Server) end(how os.Signal) error {
	if s.ended == nil {
		return nil
	}
	if err := s.process.Signal(how); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return fmt.Errorf("postgrestest: stop: %w", err)
	}
	select {
	case <-s.ended:
		s.ended = nil
		return nil
	case <-time.After(startTimeout):
		return fmt.Errorf("postgrestest: stop: the server runs on after %v:\n%s", startTimeout, s.tail())
	}
}

// Close ends the server, if it runs, and removes all that it kept. A second Close
// returns nil.
func (s *Server) Close() error {
	err := s.end(syscall.SIGQUIT)
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
		s.dir = ""
	}
	return err
}
