package bench

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/message/pb"
)

func TestInsertAndAppendRate(t *testing.T) {
	messages := NewWorkload(1, DefaultProfile(), PubsubTopic, 600, time.Unix(0, 0), 0).Messages // more than PartBytes
	want := Workload{Messages: messages}.PayloadBytes()
	dir := t.TempDir()
	for _, sync := range []sqlite.Sync{sqlite.SyncLater, sqlite.SyncEach} {
		for _, name := range []string{"memory", "sqlite::memory:", "sqlite:" + filepath.Join(dir, "archive.db")} {
			cost, err := InsertRate(t.Context(), name, sync, messages, 32)
			requireCost(t, name, cost, err, want)
		}
		cost, err := AppendRate(t.Context(), filepath.Join(dir, "appended"), sync, messages, 32)
		requireCost(t, "append", cost, err, want)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left %v, %v", left, err)
	}
}

func requireCost(t *testing.T, name string, c Cost, err error, bytes int64) {
	t.Helper()
	if err != nil || c.Wall <= 0 || c.CPU <= 0 || c.Bytes != bytes {
		t.Errorf("%s: %+v, %v, want %d bytes and some time", name, c, err, bytes)
	}
	t.Logf("%s: %v, CPU %v", name, c.Wall, c.CPU)
}

func TestRatesSayWhatIsWrong(t *testing.T) {
	taken := filepath.Join(t.TempDir(), "taken")
	if err := os.WriteFile(taken, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	insert := func(name string, batch int, messages ...*pb.WakuMessage) error {
		_, err := InsertRate(t.Context(), name, sqlite.SyncLater, messages, batch)
		return err
	}
	_, appended := AppendRate(t.Context(), taken, sqlite.SyncLater, nil, 1)
	_, batch := AppendRate(t.Context(), taken+"2", sqlite.SyncLater, nil, 0)
	for want, err := range map[string]error{
		"batch 0":           insert("memory", 0),
		"batch -1":          insert("memory", -1),
		"exists":            insert("sqlite:"+taken, 1),
		"want memory":       insert("nothing", 1),
		"append: open":      appended,
		"append: batch 0 i": batch,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want it to say %q", err, want)
		}
	}
}
