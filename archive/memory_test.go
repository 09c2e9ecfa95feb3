package archive_test

import (
	"context"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
)

func TestMemory(t *testing.T) {
	archivetest.Exercise(t, func(*testing.T) archive.Backend { return archive.NewMemory() })
}

// A small payload in a large buffer is copied, so that the buffer can go; a large
// one is not.
func TestMemoryLeavesLargeBuffers(t *testing.T) {
	for _, c := range []struct {
		name           string
		payload, waste int // bytes
		copied         uint64
	}{
		{"small in large", 10, 100_000, 1},
		{"just under half", 50_000, 50_200, 1},
		{"just over half", 50_000, 49_000, 0},
		{"whole", 50_000, 0, 0},
		{"small in small", 10, 800, 0},
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
			got := storeOne(t, env)
			if !proto.Equal(got.Message, row.Message) {
				t.Errorf("got %.200v, want %.200v", got.Message, row.Message)
			}
			at := uintptr(unsafe.Pointer(&got.Message.Payload[0])) - uintptr(unsafe.Pointer(&data[0]))
			if copied := at >= uintptr(len(data)); copied != (c.copied > 0) {
				t.Errorf("copied = %v", copied)
			}
			requireRetained(t, env.Counts(), c.copied, c.copied*uint64(len(row.Message.Payload)))
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

// storeOne stores env in a new Memory and returns its row.
func storeOne(t *testing.T, env *message.Envelope) archive.Row {
	t.Helper()
	a := newArchive(t, archive.NewMemory(), archive.Options{})
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
