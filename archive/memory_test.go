package archive_test

import (
	"context"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

func TestMemory(t *testing.T) {
	archivetest.Exercise(t, func(*testing.T) archive.Backend { return archive.NewMemory() })
}

// A small payload in a large buffer is copied, so that the buffer can go; a large
// one is not. SQLite copies what it has in its rows, uncounted.
func TestLargeBuffersAreLeft(t *testing.T) {
	for _, c := range []struct {
		name           string
		open           func(t *testing.T) archive.Backend
		payload, waste int // bytes
		copied         bool
		counted        uint64
	}{
		{"memory, small in large", memory, 10, 100_000, true, 1},
		{"memory, just under half", memory, 50_000, 50_200, true, 1},
		{"memory, just over half", memory, 50_000, 49_000, false, 0},
		{"memory, whole", memory, 50_000, 0, false, 0},
		{"memory, small in small", memory, 10, 800, false, 0},
		{"sqlite, small in large", sqliteMemory, 10, 100_000, true, 0},
		{"sqlite, largest in row", sqliteMemory, sqlite.InlineBytes - 1, 0, true, 0},
		{"sqlite, smallest beside", sqliteMemory, sqlite.InlineBytes, 0, false, 0},
		{"sqlite, just under half", sqliteMemory, 50_000, 50_200, true, 1},
		{"sqlite, just over half", sqliteMemory, 50_000, 49_000, false, 0},
		{"sqlite, whole", sqliteMemory, 50_000, 0, false, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			row := archivetest.Numbered(1, 1, c.payload)
			data, err := proto.Marshal(row.Message)
			if err != nil {
				t.Fatal(err)
			}
			if c.waste > 0 {
				data = protowire.AppendTag(data, 101, protowire.BytesType) // unknown
				data = protowire.AppendBytes(data, make([]byte, c.waste))
			}
			env := message.Wrap(counters.New(), message.Format{Decoder: message.Aliasing}, row.Topic, data)
			got := storeOne(t, c.open(t), env)
			if !proto.Equal(got.Message, row.Message) {
				t.Errorf("got %.200v, want %.200v", got.Message, row.Message)
			}
			at := uintptr(unsafe.Pointer(&got.Message.Payload[0])) - uintptr(unsafe.Pointer(&data[0]))
			if copied := at >= uintptr(len(data)); copied != c.copied {
				t.Errorf("copied = %v", copied)
			}
			requireRetained(t, env.Counts(), c.counted, c.counted*uint64(len(row.Message.Payload)))
		})
	}
}

func requireRetained(t *testing.T, counts counters.Set, copies, bytes uint64) {
	t.Helper()
	if !counters.Enabled {
		return
	}
	for _, s := range counters.Load(counts) {
		if s.Site == "archive.retain" {
			copies, bytes = copies-s.Copies, bytes-s.CopiedBytes
		} else if s.Copies != 0 {
			t.Errorf("%d copies at %s", s.Copies, s.Site)
		}
	}
	if copies != 0 || bytes != 0 {
		t.Errorf("counted %d copies and %d bytes too few at archive.retain", int64(copies), int64(bytes))
	}
}

func memory(*testing.T) archive.Backend { return archive.NewMemory() }

func sqliteMemory(t *testing.T) archive.Backend {
	t.Helper()
	d, err := sqlite.Open(t.Context(), sqlite.Memory)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// storeOne stores env in b and returns its row.
func storeOne(t *testing.T, b archive.Backend, env *message.Envelope) archive.Row {
	t.Helper()
	a := newArchive(t, b, archive.Options{})
	defer closeArchive(t, a)
	mustStore(t, a, env)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
	key, err := env.Key(counters.Site{})
	if err != nil {
		t.Fatal(err)
	}
	row, err := a.Get(t.Context(), key.Hash)
	if err != nil {
		t.Fatal(err)
	}
	return row
}
