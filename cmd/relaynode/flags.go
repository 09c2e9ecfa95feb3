package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"
	"github.com/libp2p/go-libp2p/core/crypto"

	"github.com/msgpath/msgpath/corpus"
	"github.com/msgpath/msgpath/filter"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/node"
	"github.com/msgpath/msgpath/relay"
)

// flags is the command line. Values are checked by options rather than by kong,
// which would report the first wrong one only.
type flags struct {
	Listen      []string      `sep:"none" default:"/ip4/0.0.0.0/tcp/60000" placeholder:"MULTIADDR" help:"Listen on this address; may be repeated. Transports: tcp, tcp with ws, udp with quic-v1. Default: ${default}."`
	Peer        []string      `sep:"none" placeholder:"MULTIADDR" help:"Dial this peer, and again whenever it is lost; ends in /p2p/ID; may be repeated."`
	Security    []string      `sep:"," default:"tls,noise" placeholder:"PROTOCOL" help:"Secure connections over tcp and ws with tls, noise or both; the preference of the side that dials decides. Default: ${default}."`
	Topic       []string      `sep:"none" default:"/waku/2/rs/0/0" help:"Relay this pubsub topic; may be repeated. Default: ${default}."`
	Path        string        `default:"zerocopy" help:"How far a decoded message is shared: baseline, envelope or zerocopy. Default: ${default}."`
	Hash        string        `default:"blake3" help:"Message hash: blake3 or waku-sha256. All nodes that compare archives need the same. Default: ${default}."`
	Archive     string        `placeholder:"NAME" help:"Keep messages in sqlite:FILE or postgres://USER@HOST/DATABASE (best with the password in PGPASSWORD or ~/.pgpass), or until the node stops in sqlite::memory: or memory. Default: keep none."`
	Window      time.Duration `name:"archive-window" default:"20s" placeholder:"TIME" help:"Store what arrives only if its timestamp is within this much of now; 0s stores any. Default: ${default}."`
	RetainAge   time.Duration `placeholder:"TIME" help:"Delete archived messages whose timestamps are older, as 720h. Default: never."`
	RetainCount int64         `placeholder:"N" help:"Keep only this many of the newest messages. Default: all."`
	RetainSize  string        `placeholder:"SIZE" help:"Keep only this much of the newest messages, as 10GiB. Default: all."`
	Sync        bool          `help:"Compare the archive with those of peers that ask, and exchange what only one side has."`
	SyncEvery   time.Duration `name:"sync-interval" placeholder:"TIME" help:"With --sync, ask a peer by itself this often, as 5m. Default: never, only answer."`
	SyncRange   time.Duration `placeholder:"TIME" help:"With --sync, go back so far behind the last full comparison with a peer. Default: 1h."`
	Filter      bool          `help:"Push to light peers that subscribe over Waku's filter protocol; 100 at most."`
	Record      string        `placeholder:"FILE" help:"Record the messages that are accepted in FILE, as they came over the wire, to measure with them: msgpath bench --corpus. Default: record none."`
	RecordSize  string        `default:"256MiB" placeholder:"SIZE" help:"Most bytes of a recording; then FILE becomes FILE.1, and so on. Default: ${default}."`
	RecordFiles int           `default:"4" placeholder:"N" help:"Recordings to keep, FILE among them. Default: ${default}."`
	Identity    string        `placeholder:"FILE" help:"Private key of the node, in libp2p's protobuf form; created when it is not there. Default: a new key at each start."`
	HTTP        string        `name:"http" placeholder:"HOST:PORT" help:"Serve /metrics, /healthz and /readyz on this loopback address. Default: off."`
	GOGC        string        `name:"gogc" placeholder:"PERCENT" help:"Collect garbage when the Go heap has grown by this much, or off, which needs a memory limit. Measured: 400 took a quarter more heap with messages of 1 kB; no value had a clear effect on CPU time. Default: environment variable GOGC, or 100."`
	MemoryLimit string        `placeholder:"SIZE" help:"Collect garbage more often near this much memory, as 512MiB or 2GiB; off for never. It costs nothing until the heap comes near it. Default: environment variable GOMEMLIMIT, or off."`
	LogLevel    string        `default:"info" placeholder:"LEVEL" help:"Log from this level on: debug, info, warn or error. Debug logs each message. Default: ${default}."`
	LogForm     string        `name:"log-format" default:"text" placeholder:"FORMAT" help:"Log as text or json. Default: ${default}."`

	Version kong.VersionFlag `help:"Print the version, and whether this build counts, and exit."`
}

// options returns the options of the node that f describes, or everything that
// is wrong with f.
func (f flags) options() (node.Options, error) {
	reach, errPath := relay.ParsePath(f.Path)
	hash, errHash := message.ParseAlgorithm(f.Hash)
	size, errSize := parseSize(f.RecordSize)
	o := node.Options{
		Relay:         relay.Options{Reach: reach, Hash: hash, Topics: f.Topic},
		Listen:        f.Listen,
		Peers:         f.Peer,
		Archive:       f.Archive,
		ArchiveWindow: f.Window,
		Sync:          f.Sync,

		Security: f.Security,
		Record:   corpus.Options{Path: f.Record, MaxBytes: size, Files: f.RecordFiles},
	}
	o.SyncOptions.Interval, o.SyncOptions.Range = f.SyncEvery, f.SyncRange
	if f.Filter {
		o.Filter = new(filter.Options)
	}
	errs := []error{
		f.check(), wrong("--path", errPath), wrong("--hash", errHash), f.retain(&o), wrong("--record-size", errSize), o.Validate(),
	}
	if f.RecordFiles < 1 {
		errs = append(errs, fmt.Errorf("--record-files: %d: want at least 1", f.RecordFiles))
	}
	return o, errors.Join(errs...)
}

// retain sets what the archive is to delete.
func (f flags) retain(o *node.Options) (err error) {
	o.Retention.Age, o.Retention.Count = f.RetainAge, f.RetainCount
	if f.RetainSize != "" {
		o.Retention.Bytes, err = parseSize(f.RetainSize)
		err = wrong("--retain-size", err)
	}
	if f.Archive == "" && (f.RetainAge != 0 || f.RetainCount != 0 || f.RetainSize != "") {
		err = errors.Join(err, errors.New("--retain-age, --retain-count and --retain-size: there is no --archive"))
	}
	return err
}

// check reports everything wrong with what the node's options do not hold.
func (f flags) check() error {
	_, errLevel := parseLevel(f.LogLevel)
	errs := []error{wrong("--log-level", errLevel), f.checkMemory()}
	if f.LogForm != "text" && f.LogForm != "json" {
		errs = append(errs, fmt.Errorf("--log-format: %q: want text or json", f.LogForm))
	}
	if f.HTTP != "" {
		errs = append(errs, wrong("--http", checkLoopback(f.HTTP)))
	}
	if f.Identity != "" {
		if _, _, err := loadIdentity(f.Identity); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, wrong("--identity", err))
		}
	}
	return errors.Join(errs...)
}

func wrong(flag string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", flag, err)
}

// key returns the key in the identity file, and nil if none was asked for.
func (f flags) key(logger *slog.Logger) (crypto.PrivKey, error) {
	if f.Identity == "" {
		return nil, nil
	}
	key, err := identity(f.Identity, logger)
	return key, wrong("--identity", err)
}

func parseLevel(name string) (slog.Level, error) {
	switch strings.ToLower(name) {
	case "debug":
		return slog.LevelDebug, nil
	case "info":
		return slog.LevelInfo, nil
	case "warn":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return 0, fmt.Errorf("%q: want debug, info, warn or error", name)
}

// checkLoopback says what is wrong with the address of the HTTP server, which
// has no authentication.
func checkLoopback(address string) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q: want a port from 1 to 65535, or 0 for any free one", address)
	}
	if ip, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
		return fmt.Errorf("%q is not a loopback address: want 127.0.0.1, [::1] or localhost, since the server has no authentication", host)
	}
	return nil
}

// logger returns the log of validated flags.
func (f flags) logger(w io.Writer) *slog.Logger {
	level, _ := parseLevel(f.LogLevel)
	o := &slog.HandlerOptions{Level: level}
	if f.LogForm == "json" {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}
