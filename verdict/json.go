package verdict

import (
	"bytes"
	_ "embed" // schema.json
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

//go:embed schema.json
var schema []byte

// Schema returns the JSON Schema (draft 2020-12) of what [WriteJSON] writes. It
// is generated from the Go types.
func Schema() []byte { return slices.Clone(schema) }

var resolvedSchema = sync.OnceValues(func() (*jsonschema.Resolved, error) {
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, err
	}
	return s.Resolve(nil)
})

// WriteJSON writes r as indented JSON with its fields in one order and object
// keys ascending: the same Result gives the same bytes. A nil slice is written
// as an empty one, but for Sites and Lines,
// where null means "not known".
func WriteJSON(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("verdict: write JSON: %w", err)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(filled(r)); err != nil {
		return fmt.Errorf("verdict: write JSON: %w", err)
	}
	return nil
}

// filled returns r with empty slices and maps for nil ones.
func filled(r Result) Result {
	r.Runs, r.Invalid, r.Limitations = some(r.Runs), some(r.Invalid), some(r.Limitations)
	r.Environment.Tags, r.Environment.CommandLine = some(r.Environment.Tags), some(r.Environment.CommandLine)
	r.Settings.Paths, r.Settings.Scenarios = some(r.Settings.Paths), some(r.Settings.Scenarios)
	if r.Environment.Modules == nil {
		r.Environment.Modules = map[string]string{}
	}
	for i := range r.Runs {
		r.Runs[i].Heap, r.Runs[i].Nodes = some(r.Runs[i].Heap), some(r.Runs[i].Nodes)
	}
	return r
}

// some returns a copy of s that is not nil.
func some[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }

// ReadJSON reads what [WriteJSON] wrote, and nothing else: another kind or
// newer schema version, an unknown or missing field, a value of another type, text
// after the document, and what [Result.Validate] refuses are errors. At most
// 64 MiB are read.
func ReadJSON(r io.Reader) (Result, error) {
	result, err := readJSON(r)
	if err != nil {
		return Result{}, fmt.Errorf("verdict: read JSON: %w", err)
	}
	return result, nil
}

func readJSON(r io.Reader) (result Result, err error) {
	data, err := io.ReadAll(limit(r))
	if err != nil {
		return Result{}, err
	}
	if err := checkKind(data); err != nil {
		return Result{}, err
	}
	if data, err = upgrade(data); err != nil {
		return Result{}, err
	}
	if err := checkSchema(data); err != nil {
		return Result{}, err
	}
	if err := decodeStrict(data, &result); err != nil {
		return Result{}, err
	}
	return result, result.Validate()
}

// checkKind goes first, so that a document of another kind is called that and
// not a long list of missing fields.
func checkKind(data []byte) error {
	var head struct {
		Kind          *string `json:"kind"`
		SchemaVersion *int    `json:"schemaVersion"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	switch {
	case head.Kind == nil:
		return fmt.Errorf("document has no kind, want %q", Kind)
	case *head.Kind != Kind:
		return fmt.Errorf("kind is %q, want %q", *head.Kind, Kind)
	case head.SchemaVersion == nil:
		return fmt.Errorf("document has no schemaVersion, this program reads %d", SchemaVersion)
	case *head.SchemaVersion < 1 || *head.SchemaVersion > SchemaVersion:
		return fmt.Errorf("schema version is %d, this program reads 1 to %d", *head.SchemaVersion, SchemaVersion)
	}
	return nil
}

// upgrade returns a document of an older version as one of [SchemaVersion]: what
// the older one lacks is said to be unknown.
func upgrade(data []byte) ([]byte, error) {
	var document map[string]any
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	if err := in.Decode(&document); err != nil {
		return nil, err
	}
	if document["schemaVersion"] != json.Number("1") {
		return data, nil
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return nil, errTrailing
	}
	document["schemaVersion"] = SchemaVersion
	lacks(document["environment"], "sites", nil)
	runs, _ := document["runs"].([]any)
	for _, run := range runs {
		lacks(run, "viewsChecked", 0)
		if run, ok := run.(map[string]any); ok {
			nodes, _ := run["nodes"].([]any)
			for _, node := range nodes {
				lacks(node, "lines", nil)
			}
		}
	}
	return json.Marshal(document)
}

// lacks sets a member of an object that has no such member.
func lacks(object any, name string, value any) {
	if members, ok := object.(map[string]any); ok {
		if _, there := members[name]; !there {
			members[name] = value
		}
	}
}

var errTrailing = errors.New("there is text after the document")

func checkSchema(data []byte) error {
	resolved, err := resolvedSchema()
	if err != nil {
		return fmt.Errorf("resolve schema: %w", err)
	}
	var document any
	if err := json.Unmarshal(data, &document); err != nil {
		return err
	}
	if err := resolved.Validate(document); err != nil {
		return locate("document", resolved.Schema(), document)
	}
	return nil
}

// locate returns where in v the schema first fails and why, with the indices
// that the validator's own message lacks, or nil if v is valid.
func locate(where string, s *jsonschema.Schema, v any) error {
	resolved, err := s.CloneSchemas().Resolve(nil)
	if err != nil {
		return fmt.Errorf("resolve schema of %s: %w", where, err)
	}
	failure := resolved.Validate(v)
	if failure == nil {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if sub := s.Properties[name]; sub != nil {
				if err := locate(where+"."+name, sub, v[name]); err != nil {
					return err
				}
			}
		}
	case []any:
		for i := range v {
			if s.Items == nil {
				break // an array where none belongs
			}
			if err := locate(fmt.Sprintf("%s[%d]", where, i), s.Items, v[i]); err != nil {
				return err
			}
		}
	}
	return fmt.Errorf("%s: %s", where, strings.TrimPrefix(failure.Error(), "validating root: "))
}

func decodeStrict(data []byte, v any) error {
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(v); err != nil {
		return err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}
