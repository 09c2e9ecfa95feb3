package peers

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/bench"
	"github.com/msgpath/msgpath/message/pb"
	"github.com/msgpath/msgpath/verdict"
)

// TestMain looks for goroutines left behind. Those of gossipsub and of hosts end
// some time after they are told to, so that it looks several times.
func TestMain(m *testing.M) {
	code := m.Run()
	err := goleak.Find()
	for range 20 {
		if err == nil {
			break
		}
		err = goleak.Find()
	}
	if err != nil && code == 0 {
		_, _ = io.WriteString(os.Stderr, err.Error()+"\n")
		code = 1
	}
	os.Exit(code)
}

func small(t *testing.T) bench.Options {
	t.Helper()
	p, err := bench.ParseProfile("1/10/50kB@25/50/25")
	if err != nil {
		t.Fatal(err)
	}
	o := bench.DefaultOptions()
	o.Profile, o.Messages, o.WarmupMacro, o.Runs = p, 100, 10, 2
	return o
}

// TestArms: every arm delivers and keeps what was published, and leaves no file.
func TestArms(t *testing.T) {
	dir := t.TempDir()
	r, err := bench.RunArms(t.Context(), small(t), Arms(dir))
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Runs) != 10 || !r.Verified {
		t.Errorf("%d of 10 runs are valid: %v", len(r.Runs), r.Invalid)
	}
	for _, run := range r.Runs {
		for _, n := range run.Nodes {
			if byHand := run.Path == ByHandMemory || run.Path == ByHandFile; byHand && n.Sites != nil {
				t.Errorf("%s counts: %v", run.Path, n.Sites)
			}
		}
		if (run.LatencyP50 == nil) != (run.Path == Raw) {
			t.Errorf("%s: latency %v", run.Path, run.LatencyP50)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("files are left: %v, %v", left, err)
	}
	checkTable(t, r)
}

func checkTable(t *testing.T, r verdict.Result) {
	t.Helper()
	var text strings.Builder
	if err := WriteTable(&text, r); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{ByHandMemory, ZeroCopyMemory, ByHandFile, ZeroCopyFile, Raw} {
		if !strings.Contains(text.String(), "\n"+name+" ") {
			t.Errorf("no line of %q in\n%s", name, text.String())
		}
	}
}

// failures is a log that hands on the errors in it.
type failures chan slog.Record

func (f failures) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelError }
func (f failures) WithAttrs([]slog.Attr) slog.Handler           { return f }
func (f failures) WithGroup(string) slog.Handler                { return f }
func (f failures) Handle(_ context.Context, r slog.Record) error {
	f <- r
	return nil
}

// started returns a target that has delivered all of its n messages.
func started(t *testing.T, n int, o Options) *target {
	t.Helper()
	messages := bench.NewWorkload(1, bench.DefaultProfile(), bench.PubsubTopic, n, time.Now(), 0).Messages
	x := NewByHand(o).(*target)
	t.Cleanup(func() {
		if err := errors.Join(x.Close(), x.Close()); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := x.Start(ctx, messages); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		if err := x.Publish(ctx, i); err != nil {
			t.Fatal(err)
		}
		select {
		case d := <-x.Delivered():
			if d.Index != i {
				t.Errorf("message %d was delivered, want %d", d.Index, i)
			}
		case <-ctx.Done():
			t.Fatal(ctx.Err())
		}
	}
	return x
}

// TestVerify alters the database in every way that must be noticed.
func TestVerify(t *testing.T) {
	for _, tt := range []struct{ name, change, want string }{
		{"nothing", "SELECT 1", ""},
		{"lost", "DELETE FROM messages WHERE rowid = 1", "2 of 3"},
		{"payload", "UPDATE messages SET payload = payload || x'00' WHERE rowid = 1", "altered"},
		{"topic", "UPDATE messages SET content_topic = 'other' WHERE rowid = 1", "altered"},
		{"hash", "UPDATE messages SET id = x'00' WHERE rowid = 1", "another hash"},
		{"twice", "INSERT INTO messages SELECT x'01', topic, content_topic, version, timestamp, meta, payload FROM messages WHERE rowid = 1", "another hash"},
		{"foreign", "INSERT INTO messages (id, topic, content_topic, payload) VALUES (x'02', 'a', 'b', x'ffffffffffffffff')", "no message of the run"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x := started(t, 3, Options{})
			if _, err := x.b.store.db.ExecContext(t.Context(), tt.change); err != nil {
				t.Fatal(err)
			}
			err := x.Verify(t.Context())
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

// TestAccount: what a node did, and what it could not do, is told.
func TestAccount(t *testing.T) {
	failed := make(failures, 1)
	x := started(t, 3, Options{Logger: slog.New(failed)})
	nodes, err := x.Nodes(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		if n.Delivered != 3 || n.Rejected+n.Dropped+n.Duplicates > 0 {
			t.Errorf("node %+v", n)
		}
	}
	if lost := x.Losses(); len(lost) > 0 {
		t.Errorf("losses: %v", lost)
	}
	if err := x.a.publish(t.Context(), &pb.WakuMessage{Payload: []byte("no topic")}); err == nil {
		t.Error("a message without a content topic is published")
	}
	if err := x.b.store.close(); err != nil {
		t.Fatal(err)
	}
	x.messages[0] = &pb.WakuMessage{Payload: make([]byte, 8), ContentTopic: "/again/1/x/proto", Timestamp: proto.Int64(1)}
	if err := x.Publish(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	select {
	case <-failed:
	case <-time.After(time.Minute):
		t.Fatal("an insert that failed is logged nowhere")
	}
	if lost := strings.Join(x.Losses(), "; "); !strings.Contains(lost, "node B: peers: insert message") {
		t.Errorf("losses: %s", lost)
	}
}

// TestEchoIsMissing: a message that A never delivered to itself ends the run rather
// than hold it.
func TestEchoIsMissing(t *testing.T) {
	x := started(t, 1, Options{})
	if _, err := x.Nodes(t.Context()); err != nil {
		t.Fatal(err)
	}
	x.published, x.options.patience = 2, time.Millisecond
	if _, err := x.Nodes(t.Context()); err == nil || !strings.Contains(err.Error(), "1 of its own 2") {
		t.Errorf("got %v, want an error that counts", err)
	}
}

// TestStartFails: a database that cannot be opened is an error, and what was
// started before it ends.
func TestStartFails(t *testing.T) {
	x := NewByHand(Options{File: filepath.Join(t.TempDir(), "missing", "x.db"), Logger: slog.New(slog.DiscardHandler)})
	if err := x.Start(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "database") {
		t.Errorf("start: %v", err)
	}
	if err := x.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
