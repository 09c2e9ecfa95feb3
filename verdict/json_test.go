package verdict

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestJSONReadsBackEqual(t *testing.T) {
	for name, r := range map[string]Result{
		"bench.json": fixture(), "uncounted.json": uncounted(), "invalid.json": withInvalid(),
	} {
		document := written(t, func(b *bytes.Buffer) error { return WriteJSON(b, r) })
		if name == "invalid.json" {
			equal(t, name, document)
		}
		got, err := ReadJSON(bytes.NewReader(document))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if diff := cmp.Diff(r, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s read back (-want +got):\n%s", name, diff)
		}
		for _, run := range got.Runs {
			for _, node := range run.Nodes {
				if want := !r.Environment.Counting || run.Path == "theirs"; (node.Sites == nil) != want {
					t.Errorf("%s: %s, path %s: sites are null: %t, want %t", name, run.Scenario, run.Path, node.Sites == nil, want)
				}
			}
		}
	}
}

func TestJSONIsStable(t *testing.T) {
	r := fixture()
	first := written(t, func(b *bytes.Buffer) error { return WriteJSON(b, r) })
	for range 20 {
		if again := written(t, func(b *bytes.Buffer) error { return WriteJSON(b, fixture()) }); !bytes.Equal(first, again) {
			t.Fatal("the same Result gave other bytes")
		}
	}
	if r.Invalid != nil || r.Runs[0].Nodes[0].Sites == nil {
		t.Error("writing changed the Result")
	}
}

func TestWriteJSONRefuses(t *testing.T) {
	var buf bytes.Buffer
	r := fixture()
	r.Kind = ""
	wantError(t, WriteJSON(&buf, r), "verdict: write JSON", `kind is ""`)
	if buf.Len() > 0 {
		t.Error("wrote all the same")
	}
}

// edit returns the fixture's document with one value, reached by keys and
// indices, replaced or (for nil) removed.
func edit(t *testing.T, value any, keys ...any) []byte {
	t.Helper()
	var document any
	if err := json.Unmarshal(written(t, func(b *bytes.Buffer) error { return WriteJSON(b, fixture()) }), &document); err != nil {
		t.Fatal(err)
	}
	at := document
	for _, key := range keys[:len(keys)-1] {
		switch key := key.(type) {
		case string:
			at = at.(map[string]any)[key]
		case int:
			at = at.([]any)[key]
		}
	}
	if last := keys[len(keys)-1].(string); value == nil {
		delete(at.(map[string]any), last)
	} else {
		at.(map[string]any)[last] = value
	}
	out, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestReadJSONRefuses(t *testing.T) {
	null := json.RawMessage("null")
	for _, tt := range []struct {
		name     string
		document []byte
		schema   bool // the schema must refuse it too
		want     string
	}{
		{"wrong kind", edit(t, "other-bench", "kind"), true, `kind is "other-bench", want "msgpath-bench"`},
		{"no kind", edit(t, nil, "kind"), true, "document has no kind"},
		{"later version", edit(t, 3, "schemaVersion"), true, "schema version is 3, this program reads 1 to 2"},
		{"no version", edit(t, nil, "schemaVersion"), true, "document has no schemaVersion"},
		{"missing field", edit(t, nil, "runs", 0, "wallNanos"), true, `document.runs[0]: required: missing properties: ["wallNanos"]`},
		{"missing count", edit(t, nil, "runs", 7, "nodes", 1, "sites", 2, "decodes"), true, `document.runs[7].nodes[1].sites[2]: required: missing properties: ["decodes"]`},
		{"unknown field", edit(t, 1, "runs", 0, "speed"), true, `document.runs[0]: unexpected additional properties ["speed"]`},
		{"other case", edit(t, "x", "settings", "Profile"), true, "Profile"},
		{"negative count", edit(t, -1, "runs", 0, "nodes", 0, "sites", 0, "decodes"), true, "document.runs[0].nodes[0].sites[0].decodes: minimum"},
		{"string for number", edit(t, "2000", "runs", 0, "nodes", 0, "sites", 0, "decodes"), true, `document.runs[0].nodes[0].sites[0].decodes: type: 2000 has type "string", want "integer"`},
		{"fraction for integer", edit(t, 1.5, "runs", 0, "allocs"), true, "type"},
		{"null runs", edit(t, null, "runs"), true, "document.runs: type"},
		{"null count", edit(t, null, "runs", 0, "nodes", 0, "sites", 0, "decodes"), true, "type"},
		{"run zero", edit(t, 0, "runs", 0, "run"), true, "minimum"},
		{"role", edit(t, "relay", "runs", 0, "nodes", 0, "role"), false, `role is "relay"`},
		{"counts without counting", edit(t, false, "environment", "counting"), false, "a build that does not count"},
		{"time", edit(t, "yesterday", "measuredAt"), false, "yesterday"},
		{"two documents", append(edit(t, "x", "environment", "branch"), "{}"...), false, "after top-level value"},
		{"empty", nil, false, "unexpected end of JSON input"},
		{"not an object", []byte(`[1]`), true, "cannot unmarshal array"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadJSON(bytes.NewReader(tt.document))
			wantError(t, err, "verdict: read JSON", tt.want)
			if err := checkSchema(tt.document); (err != nil) != tt.schema && len(tt.document) > 0 && tt.name != "two documents" {
				t.Errorf("the schema says %v, want an error: %t", err, tt.schema)
			}
		})
	}
}

func TestDecodeStrict(t *testing.T) {
	var v struct{ A int }
	wantError(t, decodeStrict([]byte(`{"B":1}`), &v), "unknown field")
	wantError(t, decodeStrict([]byte(`{"A":1} x`), &v), "text after the document")
}

func TestReadJSONIsBounded(t *testing.T) {
	_, err := ReadJSON(strings.NewReader(strings.Repeat(" ", maxDocument+1)))
	wantError(t, err, "longer than 67108864 bytes")
}

// A document of version 1 lacks what version 2 added: it is read as unknown.
func TestReadJSONOfVersion1(t *testing.T) {
	data, err := os.ReadFile("testdata/v1.json")
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadJSON(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	if r.SchemaVersion != SchemaVersion || r.Environment.Sites != nil || r.Runs[0].ViewsChecked != 0 || r.Runs[0].Nodes[0].Lines != nil {
		t.Errorf("read as %+v", r)
	}
	_, err = ReadJSON(io.MultiReader(bytes.NewReader(data), strings.NewReader("{}")))
	wantError(t, err, "after top-level value")
	_, err = ReadJSON(strings.NewReader(strings.Replace(string(data), `"gogc"`, `"gig"`, 1)))
	wantError(t, err, "gig")
}
