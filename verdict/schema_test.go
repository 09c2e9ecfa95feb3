package verdict

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/internal/golden"
)

// schema.json is generated from the Go types by this file: go test -update.
func TestSchemaMatchesTheTypes(t *testing.T) {
	s, err := newSchema()
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "schema.json", append(got, '\n'))
}

// committed returns the committed schema, parsed.
func committed(t *testing.T) *jsonschema.Schema {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// Walks the Go types by itself, so that a type the generator misreads shows.
func TestSchemaDescribesEveryField(t *testing.T) {
	describes(t, "Result", reflect.TypeFor[Result](), committed(t))
}

func describes(t *testing.T, where string, typ reflect.Type, s *jsonschema.Schema) {
	t.Helper()
	if s.Description == "" && !strings.HasSuffix(where, "]") {
		t.Errorf("%s has no description", where)
	}
	switch typ.Kind() {
	case reflect.Pointer:
		describes(t, where, typ.Elem(), s)
	case reflect.Slice:
		describes(t, where+"[]", typ.Elem(), s.Items)
	case reflect.Struct:
		if s.Type == "string" { // a time
			return
		}
		var names []string
		for _, f := range reflect.VisibleFields(typ) {
			name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous {
				continue
			}
			if s.Properties[name] == nil || slices.Contains(s.Required, name) != (option == "") {
				t.Errorf("%s: field %q is not described, or not required though it is always there", where, name)
				continue
			}
			names = append(names, name)
			describes(t, where+"."+name, f.Type, s.Properties[name])
		}
		if len(names) != len(s.Properties) {
			t.Errorf("%s: the schema has %d properties, the type %d fields", where, len(s.Properties), len(names))
		}
		if s.AdditionalProperties == nil {
			t.Errorf("%s: additional properties are allowed", where)
		}
	}
}

func TestSchemaIsACopy(t *testing.T) {
	Schema()[0] = 'x'
	if Schema()[0] != '{' {
		t.Error("a caller changed the schema of all")
	}
}

func TestSchemaValidates(t *testing.T) {
	withNoEvents := fixture()
	withNoEvents.Runs[0].Nodes[0].Sites = []counters.SiteCounts{}
	for name, r := range map[string]Result{
		"full": fixture(), "uncounted": uncounted(), "invalid": withInvalid(), "no events": withNoEvents,
		"no runs": {Kind: Kind, SchemaVersion: SchemaVersion},
	} {
		document := written(t, func(b *bytes.Buffer) error { return WriteJSON(b, r) })
		if err := checkSchema(document); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// newSchema derives the schema from the Go types and adds what Go types cannot
// say.
func newSchema() (*jsonschema.Schema, error) {
	s, err := jsonschema.For[Result](&jsonschema.ForOptions{})
	if err != nil {
		return nil, err
	}
	s.Schema = "https://json-schema.org/draft/2020-12/schema"
	s.Title = "msgpath benchmark result"
	s.Description = "One benchmark session: where it ran, with what settings, and what each run measured."
	s.Properties["kind"].Const = jsonschema.Ptr[any](Kind)
	s.Properties["schemaVersion"].Const = jsonschema.Ptr[any](SchemaVersion)
	refine("", s)
	return s, nil
}

// refine forbids null for the slices that are always there and negative values
// for the integers that have none, and describes the fields of counters.Counts,
// which carries no tags for it.
func refine(name string, s *jsonschema.Schema) {
	if len(s.Types) == 2 && s.Types[1] == "array" && !slices.Contains(nullable, name) {
		s.Types, s.Type = nil, "array"
	}
	integer := s.Type == "integer" || slices.Contains(s.Types, "integer")
	if integer && s.Minimum == nil && name != "liveDelta" {
		s.Minimum = jsonschema.Ptr(minimum[name])
	}
	if s.Description == "" {
		s.Description = countDescriptions[name]
	}
	if s.Items != nil {
		refine(name+"[]", s.Items)
	}
	for property, sub := range s.Properties {
		refine(property, sub)
	}
}

// nullable are the slices that are null where a thing is not known.
var nullable = []string{"sites", "lines"}

// minimum is the least value of the signed integers whose least is not 0.
var minimum = map[string]float64{"run": 1, "wallNanos": 1, "schemaVersion": SchemaVersion}

var countDescriptions = map[string]string{
	"site":          "site, as package.site",
	"event":         "kind of event: decode, hash, id_hash, encode or copy",
	"at":            "source lines, as package/file.go:12",
	"decodes":       "decodes of a wire message",
	"decodedBytes":  "encoded sizes of what was decoded, bytes",
	"hashes":        "message hashes",
	"hashedBytes":   "payload and meta fed to the message hash, bytes",
	"idHashes":      "gossip message ids",
	"idHashedBytes": "bytes fed to the gossip message id",
	"encodes":       "encodes to a wire message",
	"encodedBytes":  "encoded sizes, bytes",
	"copies":        "copies of a payload made by the project's own code",
	"copiedBytes":   "bytes copied",
}
