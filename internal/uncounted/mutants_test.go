//go:build !msgpathcounters

// What is read is the counting source, whatever tests are built as: one build of
// them is enough.

package uncounted

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// A mutant changes one place of a file of the project, and must be found.
type mutant struct {
	file, old, new string
	want           string // how the finding begins
}

const dataOf = "	data := m.GetData() // named once: see decision 5\n"

var mutants = []mutant{
	{
		file: "relay/observe.go", old: dataOf,
		new:  dataOf + "	_ = proto.Unmarshal(data, new(pb.WakuMessage))\n",
		want: "decode not counted: proto.Unmarshal in (*Relay).observe (called from tracer.DeliverMessage, tracer.RecvRPC, tracer.SendRPC):",
	},
	{
		file: "relay/observe.go", old: "import (\n",
		new: "import (\n	\"google.golang.org/protobuf/proto\"\n",
	},
	{
		file: "relay/dispatch.go", old: "	j.handle(ctx, m)\n",
		new:  "	j.handle(ctx, m)\n	m.Data = append([]byte(nil), m.Data...)\n",
		want: "copy not counted: append of m.Data in (*Relay).Inject:",
	},
	{
		file: "archive/archive.go", old: "	if m.GetEphemeral() {\n",
		new:  "	if h := message.Blake3.Sum(env.Topic(), m); h == (message.Hash{}) || m.GetEphemeral() {\n",
		want: "hash not counted: message.Algorithm.Sum in newItem (called from (*Archive).store):",
	},
	{
		file: "archive/memory.go", old: "counters.Copy(r.counts, siteRetain, len(payload))", new: "_ = siteRetain",
		want: "copy not counted: bytes.Clone of payload in Row.copyPayload (called from Row.HeldPayload, Row.retained):",
	},
	{
		file: "relay/gossip.go", old: "counters.IDHash(counts, siteGossipID, len(topic)+len(data))", new: "_ = siteGossipID",
		want: "hash not counted: message.DigestPayload in GossipID (called from gossipID):",
	},
	{
		file: "relay/gossip.go", old: "	return h.Sum(id)\n", new: "	return h.Sum(id)\n", // the other half of what the one above uncovers
		want: "hash not counted: (*blake3.Hasher).Sum in (*idHasher).surroundings (called from GossipID):",
	},
	{
		file: "message/envelope.go", old: "counters.Encode(counts, site, len(data))", new: "_ = data",
		want: "encode not counted: proto.MarshalOptions.Marshal in Seal (called from ",
	},
}

// TestMutants: in the packages that count, what is put in is found and nothing
// else, so that what they do not count is declared. The others need not be
// compiled anew for it; the command examines them all ("make vet").
func TestMutants(t *testing.T) {
	t.Parallel()
	overlay, want := mutate(t)
	o := Options{Dir: "../..", Overlay: overlay, Patterns: []string{"./message", "./relay", "./archive"}}
	summaries, err := o.summaries(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range reportOf(t, summaries, "../..").Findings {
		i := slices.IndexFunc(want, func(m mutant) bool { return m.file == f.File && strings.HasPrefix(f.Message, m.want) })
		if i < 0 {
			t.Errorf("%v: %s", f.Place, f.Message)
			continue
		}
		want = slices.Delete(want, i, i+1)
	}
	for _, m := range want {
		t.Errorf("%s: not found: %s", m.file, m.want)
	}
}

// mutate returns the changed files, and the mutants that are to be found.
func mutate(t *testing.T) (overlay map[string][]byte, want []mutant) {
	t.Helper()
	overlay = make(map[string][]byte)
	for _, m := range mutants {
		name, err := filepath.Abs(filepath.Join("../..", m.file))
		if err != nil {
			t.Fatal(err)
		}
		if overlay[name] == nil {
			if overlay[name], err = os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
		if n := bytes.Count(overlay[name], []byte(m.old)); n != 1 {
			t.Fatalf("%s has %q %d times, want it once", m.file, m.old, n)
		}
		overlay[name] = bytes.Replace(overlay[name], []byte(m.old), []byte(m.new), 1)
		if m.want != "" {
			want = append(want, m)
		}
	}
	return overlay, want
}
