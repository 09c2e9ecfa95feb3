package verdict

import (
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Formats of the files that [ReadRecord] reads.
const (
	FormatJSON    = "JSON"               // of [WriteJSON]
	FormatCSV     = "CSV"                // of [WriteCSV]
	FormatSeedCSV = "seed CSV"           // the 13 columns of [SeedHeader]
	FormatSites   = "sites CSV"          // of [WriteSites]
	FormatBench   = "Go benchmark lines" // of [WriteBench], "go test -bench" or anything like it
)

// ReadRecord reads one file in any of the formats above, which it tells apart by
// what the file begins with. The name is for messages: an error has it, and the
// line where one is known. What [Result.Validate] refuses is [ErrInvalid]. At
// most 64 MiB are read.
//
// JSON of a newer schema version than [SchemaVersion] is read without the members
// that are not known here, and a note says so: two commits can then be compared in
// what both have. A member that is missing is an error, never 0. [ReadJSON] refuses
// a newer version.
//
// CSV has figures for roles only, and of a seed CSV the path is "" and the role
// [RoleAll]. A figure's rounding is that of its decimals, and none for events per
// message where the decimals tell their number: three do up to 1000 messages. The
// number of garbage collections is no figure.
//
// The sites CSV has totals of a run ("decodes/run") until [Merge] finds the
// number of messages in another file.
//
// Of Go benchmark lines, those named like "BenchmarkMacro/path=zerocopy/role=all"
// have that scenario, path and role. Any other name is a scenario as a whole,
// without the number of cores at its end, where all lines of the file have the
// same; it has the import path in front if the file has that name in several
// packages. Several lines of one name are samples. A unit is a [Count] if it is
// named like one of ours, as "decodes/op", or if the file says "Unit NAME
// assume=exact"; higher is better if it says "better=higher", and for a rate ("/s").
// A line that cannot be parsed, a value without a unit and one that is not
// finite are errors.
//
// Counts that are 0 at every place of a run are n/a: nothing shows that its
// counters were at work. This is not done to the lines of other projects.
func ReadRecord(name string, r io.Reader) (Record, error) {
	data, err := io.ReadAll(limit(r))
	if err != nil {
		return Record{}, fmt.Errorf("verdict: read %s: %w", name, err)
	}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var record Record
	switch format := sniff(data); format {
	case FormatJSON:
		record, err = readResult(name, data)
	case FormatCSV, FormatSeedCSV:
		record, err = readRows(format, data)
	case FormatSites:
		record, err = readSiteRows(data)
	case FormatBench:
		if record, err = readBenchLines(name, data); err != nil {
			err = fmt.Errorf("verdict: read Go benchmark lines: %w", err)
		}
	default:
		err = unknownFormat(data)
	}
	if err != nil {
		return Record{}, fmt.Errorf("%s: %w", name, err)
	}
	record.Files, record.content = []string{name}, sha256.Sum256(data) //msgpath:uncounted of a file of results, not of a message
	return record, nil
}

// sniff returns the format of a file by what it begins with, "" for none.
func sniff(data []byte) string {
	if bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return FormatJSON
	}
	header, _ := csv.NewReader(bytes.NewReader(data)).Read()
	switch {
	case slices.Equal(header, SitesHeader()):
		return FormatSites
	case len(header) == seedColumns && header[0] == columns[0].name:
		return FormatSeedCSV
	case len(header) > 1 && header[0] == columns[0].name:
		return FormatCSV
	}
	for line := range bytes.Lines(data) {
		if bytes.HasPrefix(line, []byte("Benchmark")) || bytes.HasPrefix(line, []byte("Unit ")) {
			return FormatBench
		}
	}
	return ""
}

func unknownFormat(data []byte) error {
	line, _, _ := bytes.Cut(data, []byte("\n"))
	return fmt.Errorf("verdict: read file: line 1: %.60q begins no file that can be read: want a result in JSON, its CSV or sites CSV, or Go benchmark lines", line)
}

// NewRecord returns what one result says.
func NewRecord(name string, r Result) Record {
	return Record{
		Files: []string{name}, Format: FormatJSON, Figures: Figures(r), Results: []Result{r}, Rows: Rows(r),
		Conditions: []map[string]string{conditions(r)},
	}
}

// conditions returns what the times of r depend on.
func conditions(r Result) map[string]string {
	c := make(map[string]string)
	for _, kv := range benchConfig(r) {
		c[kv.Key] = string(kv.Value)
	}
	for name, value := range map[string]string{
		"tags": strings.Join(r.Environment.Tags, ","), "gogc": r.Environment.GOGC, "gomemlimit": r.Environment.GOMEMLIMIT,
	} {
		if value != "" {
			c[name] = value
		}
	}
	return c
}

// readResult reads JSON. Only one of a newer schema version is read leniently.
func readResult(name string, data []byte) (Record, error) {
	var head struct {
		Kind          string `json:"kind"`
		SchemaVersion int    `json:"schemaVersion"`
	}
	newer := json.Unmarshal(data, &head) == nil && head.Kind == Kind && head.SchemaVersion > SchemaVersion
	if !newer {
		result, err := ReadJSON(bytes.NewReader(data))
		if err != nil {
			return Record{}, atLine(data, err)
		}
		return NewRecord(name, result), nil
	}
	result, err := readNewer(data)
	if err != nil {
		return Record{}, fmt.Errorf("verdict: read JSON of schema version %d: %w", head.SchemaVersion, err)
	}
	record := NewRecord(name, result)
	record.Notes = []string{fmt.Sprintf("%s has schema version %d, this program knows %d: what it does not know was left out",
		name, head.SchemaVersion, SchemaVersion)}
	return record, nil
}

// readNewer reads a document of a newer schema version as one of [SchemaVersion].
func readNewer(data []byte) (Result, error) {
	resolved, err := resolvedSchema()
	if err != nil {
		return Result{}, fmt.Errorf("resolve schema: %w", err)
	}
	var document map[string]any
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	if err := in.Decode(&document); err != nil {
		return Result{}, err
	}
	document["schemaVersion"] = SchemaVersion
	prune(document, resolved.Schema())
	known, err := json.Marshal(document)
	if err != nil {
		return Result{}, err
	}
	return readJSON(bytes.NewReader(known))
}

// prune takes the members out of a document that its schema does not know.
func prune(v any, s *jsonschema.Schema) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			if sub := s.Properties[name]; sub != nil {
				prune(member, sub)
			} else if s.Properties != nil {
				delete(v, name)
			}
		}
	case []any:
		for _, item := range v {
			if s.Items != nil {
				prune(item, s.Items)
			}
		}
	}
}

// atLine adds the line at which JSON is broken.
func atLine(data []byte, err error) error {
	offset := int64(-1)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = syntax.Offset
	} else if kind, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		offset = kind.Offset
	}
	if offset < 0 || offset > int64(len(data)) {
		return err
	}
	return fmt.Errorf("line %d: %w", 1+bytes.Count(data[:offset], []byte("\n")), err)
}
