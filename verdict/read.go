package verdict

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
// JSON of a newer schema version than [SchemaVersion] is read as far as it is
// understood, and a note says so: two commits can then be compared in what both
// have. [ReadJSON] refuses it.
//
// CSV has figures for roles only, and of a seed CSV the path is "" and the role
// [RoleAll]. A figure's rounding is that of the decimals of its column. The
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
		record, err = readBenchLines(name, data)
	default:
		err = unknownFormat(data)
	}
	if err != nil {
		return Record{}, fmt.Errorf("%s: %w", name, err)
	}
	record.Files = []string{name}
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
	return fmt.Errorf("line 1: %.60q begins no file that can be read: want a result in JSON, its CSV or sites CSV, or Go benchmark lines", line)
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
	var result Result
	if err := json.Unmarshal(data, &result); err != nil {
		return Record{}, atLine(data, fmt.Errorf("verdict: read JSON of schema version %d: %w", head.SchemaVersion, err))
	}
	result.SchemaVersion = SchemaVersion
	if err := result.Validate(); err != nil {
		return Record{}, fmt.Errorf("verdict: read JSON of schema version %d: %w", head.SchemaVersion, err)
	}
	record := NewRecord(name, result)
	record.Notes = []string{fmt.Sprintf("%s has schema version %d, this program knows %d: what it does not know was left out",
		name, head.SchemaVersion, SchemaVersion)}
	return record, nil
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
