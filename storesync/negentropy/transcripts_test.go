package negentropy

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/message"
)

// reference is the file of the reference implementation's sessions.
type reference struct {
	Cases     []referenceCase
	Malformed []struct{ Name, Hex, Error, Reply string }
}

type referenceCase struct {
	Name                     string
	FrameSizeLimit           int
	ClientCount, ServerCount int
	Client, Server           []referenceItem
	ClientFingerprint        string
	ServerFingerprint        string
	Rounds                   int
	TotalBytes, MaxFrame     int
	ExpectedHave             referenceIDs
	ExpectedNeed             referenceIDs
	Messages                 []struct {
		Dir, Hex, SHA256 string
		Bytes            int
	}
}

// referenceItem is [timestamp, "id"].
type referenceItem Item

func (i *referenceItem) UnmarshalJSON(data []byte) error {
	var id hexID
	if err := json.Unmarshal(data, &[]any{&i.Timestamp, &id}); err != nil {
		return err
	}
	i.ID = message.Hash(id)
	return nil
}

type hexID message.Hash

func (h *hexID) UnmarshalText(text []byte) error {
	_, err := hex.Decode(h[:], text)
	return err
}

// referenceIDs is a list of ids, or only its length.
type referenceIDs struct {
	ids []message.Hash
	n   int
}

func (r *referenceIDs) UnmarshalJSON(data []byte) (err error) {
	if data[0] != '[' {
		r.n, err = strconv.Atoi(string(data))
		return err
	}
	var list []hexID
	if err := json.Unmarshal(data, &list); err != nil {
		return err
	}
	for _, id := range list {
		r.ids = append(r.ids, message.Hash(id))
	}
	r.n = len(list)
	return nil
}

func readReference(t testing.TB) reference {
	t.Helper()
	data, err := os.ReadFile("testdata/negentropy_v1_transcripts.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(data, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Cases) != 8 || len(r.Malformed) != 8 {
		t.Fatalf("got %d cases and %d malformed frames, want 8 and 8", len(r.Cases), len(r.Malformed))
	}
	return r
}

// items returns both sets. Where the file leaves them out, they are as its README
// says.
func (c referenceCase) items() (client, server []Item) {
	for _, i := range c.Client {
		client = append(client, Item(i))
	}
	for _, i := range c.Server {
		server = append(server, Item(i))
	}
	switch {
	case strings.HasPrefix(c.Name, "1000-"):
		for i := range 1000 {
			item := Item{Timestamp: uint64(1000 + i), ID: named("msg", i)}
			if i%5 != 0 {
				client = append(client, item)
			}
			if i%3 != 0 {
				server = append(server, item)
			}
		}
	case strings.Contains(c.Name, "5000-same-ts"):
		for i := range max(c.ClientCount, c.ServerCount) {
			item := Item{Timestamp: 1, ID: named("big", i)}
			if i < c.ClientCount {
				client = append(client, item)
			}
			if i < c.ServerCount {
				server = append(server, item)
			}
		}
	}
	return client, server
}

// Every frame of both sides is the reference's, and so is what is found.
func TestTranscripts(t *testing.T) {
	for _, c := range readReference(t).Cases {
		t.Run(c.Name, func(t *testing.T) {
			client, server := c.items()
			a, b := vector(t, client), vector(t, server)
			checkReferenceSet(t, "client", a, c.ClientCount, c.ClientFingerprint)
			checkReferenceSet(t, "server", b, c.ServerCount, c.ServerFingerprint)
			limits := Limits{FrameBytes: c.FrameSizeLimit}
			s := reconcile(t, a, b, limits, limits)
			checkReferenceFrames(t, c, s)
			if total, longest := s.bytes(); s.rounds() != c.Rounds || total != c.TotalBytes || longest != c.MaxFrame {
				t.Errorf("%d rounds, %d bytes, longest frame %d; want %d, %d, %d", s.rounds(), total, longest, c.Rounds, c.TotalBytes, c.MaxFrame)
			}
			checkReferenceIDs(t, "have", s.Have, c.ExpectedHave)
			checkReferenceIDs(t, "need", s.Need, c.ExpectedNeed)
			if c.Name != "same-ids-shifted-timestamps" { // items differ, ids do not
				sameIDs(t, "have", s.Have, minus(client, server))
				sameIDs(t, "need", s.Need, minus(server, client))
			}
		})
	}
}

func checkReferenceSet(t *testing.T, side string, v *Vector, n int, fingerprint string) {
	t.Helper()
	f := v.Fingerprint(0, v.Len())
	if v.Len() != n || hex.EncodeToString(f[:]) != fingerprint {
		t.Fatalf("%s: %d items of fingerprint %x, want %d, %s", side, v.Len(), f, n, fingerprint)
	}
}

func checkReferenceFrames(t *testing.T, c referenceCase, s transcript) {
	t.Helper()
	if len(s.frames) != len(c.Messages) {
		t.Fatalf("%d frames, want %d", len(s.frames), len(c.Messages))
	}
	for i, m := range c.Messages {
		if dir := []string{"c->s", "s->c"}[i%2]; m.Dir != dir {
			t.Fatalf("frame %d goes %s, want %s", i, m.Dir, dir)
		}
		if m.Hex != "" {
			if got := hex.EncodeToString(s.frames[i]); got != m.Hex {
				t.Errorf("frame %d:\n got %s\nwant %s", i, got, m.Hex)
			}
			continue
		}
		digest := sha256.Sum256(s.frames[i])
		if got := hex.EncodeToString(digest[:]); got != m.SHA256 || len(s.frames[i]) != m.Bytes {
			t.Errorf("frame %d: %d bytes, SHA-256 %s; want %d, %s", i, len(s.frames[i]), got, m.Bytes, m.SHA256)
		}
	}
}

func checkReferenceIDs(t *testing.T, what string, got []message.Hash, want referenceIDs) {
	t.Helper()
	if len(got) != want.n {
		t.Errorf("%s: %d ids, want %d", what, len(got), want.n)
	}
	if want.ids != nil {
		sameIDs(t, what, got, sortedIDs(want.ids))
	}
}

// A responder answers the reference's malformed frames, or refuses them, as the
// reference does.
func TestReferenceMalformed(t *testing.T) {
	for _, m := range readReference(t).Malformed {
		t.Run(m.Name, func(t *testing.T) {
			frame, err := hex.DecodeString(m.Hex)
			if err != nil {
				t.Fatal(err)
			}
			_, r := sides(t, vector(t, nil), vector(t, numbered(0, 40)), Limits{}, Limits{})
			out, err := r.Step(frame)
			if m.Error != "" {
				wantMalformed(t, err)
				return
			}
			want, _ := hex.DecodeString(m.Reply)
			if err != nil || !bytes.Equal(out, want) {
				t.Errorf("got %x, %v, want %x", out, err, want)
			}
		})
	}
}
