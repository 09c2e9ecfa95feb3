package verdict

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// notAvailable stands for what was not measured.
const notAvailable = "n/a"

// maxDocument bounds what is read into memory, in bytes.
const maxDocument = 64 << 20

// column is one column of the CSV: its name and the field of a Row it shows, as
// a pointer to a string, int, *float64 or *bool. A *float64 is printed with
// this many decimals, and events per message with as many more as it takes to
// tell their number; only a signed one may be negative.
type column struct {
	name     string
	field    func(*Row) any
	decimals int
	signed   bool
	events   bool
}

// seedColumns is how many of the columns the first harness of this kind
// printed; they keep its names, order and formats.
const seedColumns = 13

var columns = []column{
	{name: "scenario", field: func(r *Row) any { return &r.Scenario }},
	{name: "msgs", field: func(r *Row) any { return &r.Messages }},
	{name: "payload_profile", field: func(r *Row) any { return &r.Profile }},
	{name: "wall_ms", field: func(r *Row) any { return &r.WallMillis }, decimals: 3},
	{name: "msg_per_s", field: func(r *Row) any { return &r.MessagesPerSecond }, decimals: 1},
	{name: "ns_per_msg_p50", field: func(r *Row) any { return &r.NanosPerP50 }},
	{name: "ns_per_msg_p99", field: func(r *Row) any { return &r.NanosPerP99 }},
	{name: "decodes_per_msg", field: func(r *Row) any { return &r.Decodes }, decimals: 3, events: true},
	{name: "hashes_per_msg", field: func(r *Row) any { return &r.Hashes }, decimals: 3, events: true},
	{name: "hashed_MB", field: func(r *Row) any { return &r.HashedMB }, decimals: 2},
	{name: "decoded_MB", field: func(r *Row) any { return &r.DecodedMB }, decimals: 2},
	{name: "occupied_mem_delta_MB", field: func(r *Row) any { return &r.LiveDeltaMB }, decimals: 2, signed: true},
	{name: "gc_collections", field: func(r *Row) any { return &r.GCCollections }},
	{name: "path", field: func(r *Row) any { return &r.Path }},
	{name: "role", field: func(r *Row) any { return &r.Role }},
	{name: "run", field: func(r *Row) any { return &r.Run }},
	{name: "cpu_ns_per_msg", field: func(r *Row) any { return &r.CPUNanos }},
	{name: "id_hashes_per_msg", field: func(r *Row) any { return &r.IDHashes }, decimals: 3, events: true},
	{name: "id_hashed_MB", field: func(r *Row) any { return &r.IDHashedMB }, decimals: 2},
	{name: "encodes_per_msg", field: func(r *Row) any { return &r.Encodes }, decimals: 3, events: true},
	{name: "copied_MB", field: func(r *Row) any { return &r.CopiedMB }, decimals: 2},
	{name: "alloc_MB", field: func(r *Row) any { return &r.AllocMB }, decimals: 2},
	{name: "allocs_per_msg", field: func(r *Row) any { return &r.Allocs }, decimals: 1},
	{name: "peak_heap_MB", field: func(r *Row) any { return &r.PeakHeapMB }, decimals: 2},
	{name: "latency_p50_ns", field: func(r *Row) any { return &r.LatencyP50 }},
	{name: "latency_p99_ns", field: func(r *Row) any { return &r.LatencyP99 }},
	{name: "published", field: func(r *Row) any { return &r.Published }},
	{name: "delivered", field: func(r *Row) any { return &r.Delivered }},
	{name: "rejected", field: func(r *Row) any { return &r.Rejected }},
	{name: "duplicates", field: func(r *Row) any { return &r.Duplicates }},
	{name: "dropped", field: func(r *Row) any { return &r.Dropped }},
	{name: "verified", field: func(r *Row) any { return &r.Verified }},
}

// Header returns the names of the columns of every result, in order.
func Header() []string { return header(columns) }

// SeedHeader returns the names of the first 13 columns: those of the Nim
// system's published benchmark (logos-messaging/logos-delivery).
func SeedHeader() []string { return header(columns[:seedColumns]) }

func header(cols []column) []string {
	names := make([]string, len(cols))
	for i, c := range cols {
		names[i] = c.name
	}
	return names
}

// WriteCSV writes the [Rows] of r under [Header] as RFC 4180 with LF line ends.
//
// wall_ms has 3 decimals, msg_per_s and allocs_per_msg 1, other figures per
// message 3, MB 2; nanoseconds, collections and numbers of messages are integers.
// Of more than 1000 messages, events per message have as many decimals as it takes
// to tell one event: 4 up to 10000 messages.
// Those of [OpenHeader] follow where the result is of an open loop, in nanoseconds
// but for the rate, which has 3 decimals.
// The decimal point is a point in any locale. What a column says of a role, as
// delivered does of "all", is told at [Row].
func WriteCSV(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("verdict: write CSV: %w", err)
	}
	return writeRows(w, columnsFor(r), Rows(r))
}

// WriteSeedCSV writes exactly [SeedHeader] and three rows of one path:
// micro_run1, micro_run2 and macro, the sums over all nodes. The error names
// every row that r lacks, and why where r says so.
func WriteSeedCSV(w io.Writer, r Result, path string) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("verdict: write seed CSV: %w", err)
	}
	var rows []Row
	var missing []error
	for _, scenario := range []string{RunName(Micro, 1), RunName(Micro, 2), RunName(Macro, 1)} {
		i := slices.IndexFunc(r.Runs, func(run Run) bool { return run.Scenario == scenario && run.Path == path })
		if i < 0 {
			missing = append(missing, fmt.Errorf("path %q has no row %s: %s", path, scenario, whyMissing(r, scenario, path)))
			continue
		}
		rows = append(rows, newRow(r, r.Runs[i], RoleAll))
	}
	if err := errors.Join(missing...); err != nil {
		return fmt.Errorf("verdict: write seed CSV: %w", err)
	}
	return writeRows(w, columns[:seedColumns], rows)
}

func whyMissing(r Result, scenario, path string) string {
	for _, inv := range r.Invalid {
		if inv.Scenario == scenario && inv.Path == path {
			return "the run was invalid: " + inv.Reason
		}
	}
	return "it did not run"
}

func writeRows(w io.Writer, cols []column, rows []Row) error {
	out := csv.NewWriter(w)
	records := [][]string{header(cols)}
	for i := range rows {
		record, err := format(cols, &rows[i])
		if err != nil {
			return fmt.Errorf("verdict: write CSV: row %d: %w", i+1, err)
		}
		records = append(records, record)
	}
	if err := out.WriteAll(records); err != nil {
		return fmt.Errorf("verdict: write CSV: %w", err)
	}
	return nil
}

func format(cols []column, row *Row) ([]string, error) {
	record := make([]string, len(cols))
	for i, c := range cols {
		text, err := c.format(row)
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", c.name, err)
		}
		record[i] = text
	}
	return record, nil
}

func (c column) format(row *Row) (string, error) {
	switch field := c.field(row).(type) {
	case *string:
		return *field, nil
	case *int:
		return strconv.Itoa(*field), nil
	case **bool:
		if *field == nil {
			return notAvailable, nil
		}
		return strconv.FormatBool(**field), nil
	case **float64:
		return c.formatNumber(*field, c.places(row.Messages))
	default:
		return "", fmt.Errorf("format a field of type %T", field)
	}
}

// places returns with how many decimals a column of so many messages is printed.
// They do not depend on the value: 1.000 of 10000 messages would not say whether
// 1.0004 was meant.
func (c column) places(messages int) int {
	places := c.decimals
	for most := math.Pow10(places); c.events && most < float64(messages); most *= 10 {
		places++
	}
	return places
}

func (c column) formatNumber(v *float64, places int) (string, error) {
	if v == nil {
		return notAvailable, nil
	}
	if !finite(*v) {
		return "", fmt.Errorf("%v is not a number that CSV can hold", *v)
	}
	text := strconv.FormatFloat(*v, 'f', places, 64)
	if strings.Trim(text, "-0.") == "" {
		text = strings.TrimPrefix(text, "-") // what rounds to zero has no sign
	}
	return text, nil
}

// ReadCSV reads what [WriteCSV] or [WriteSeedCSV] wrote. The header must be that
// of one of the two, exactly; a value that its column cannot hold is an error that
// names line and column. At most 64 MiB are read.
func ReadCSV(r io.Reader) ([]Row, error) {
	in := csv.NewReader(limit(r))
	names, err := in.Read()
	if err != nil {
		return nil, fmt.Errorf("verdict: read CSV header: %w", err)
	}
	cols, err := columnsOf(names)
	if err != nil {
		return nil, fmt.Errorf("verdict: read CSV header: %w", err)
	}
	var rows []Row
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return nil, fmt.Errorf("verdict: read CSV: %w", err)
		}
		row, err := parse(cols, record)
		if err != nil {
			line, _ := in.FieldPos(0)
			return nil, fmt.Errorf("verdict: read CSV: line %d: %w", line, err)
		}
		rows = append(rows, row)
	}
}

func columnsOf(names []string) ([]column, error) {
	all := slices.Concat(columns, openColumns)
	if n := len(names); n != seedColumns && n != len(columns) && n != len(all) {
		return nil, fmt.Errorf("%d columns, want %d, %d or, of an open loop, %d", n, seedColumns, len(columns), len(all))
	}
	for i, name := range names {
		if name != all[i].name {
			return nil, fmt.Errorf("column %d is %q, want %q", i+1, name, all[i].name)
		}
	}
	return all[:len(names)], nil
}

func parse(cols []column, record []string) (Row, error) {
	var row Row
	for i, c := range cols {
		if err := c.parse(&row, record[i]); err != nil {
			return Row{}, fmt.Errorf("column %s: %w", c.name, err)
		}
	}
	return row, nil
}

func (c column) parse(row *Row, text string) (err error) {
	switch field := c.field(row).(type) {
	case *string:
		*field = text
	case *int:
		*field, err = strconv.Atoi(text)
		if err == nil && *field < 1 {
			err = fmt.Errorf("%d is less than 1", *field)
		}
	case **bool:
		*field, err = parseBool(text)
	case **float64:
		*field, err = c.parseNumber(text)
	default:
		err = fmt.Errorf("parse a field of type %T", field)
	}
	return err
}

func parseBool(text string) (*bool, error) {
	switch text {
	case notAvailable:
		return nil, nil
	case "true", "false":
		v := text == "true"
		return &v, nil
	}
	return nil, fmt.Errorf("%q is neither true, false nor %s", text, notAvailable)
}

func (c column) parseNumber(text string) (*float64, error) {
	if text == notAvailable {
		return nil, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || !finite(v) || strings.Trim(text, "-0123456789.") != "" {
		return nil, fmt.Errorf("%q is neither a decimal number nor %s", text, notAvailable)
	}
	if math.Signbit(v) && !c.signed {
		return nil, fmt.Errorf("%s is negative", text)
	}
	return &v, nil
}

// limit returns a reader that fails, rather than ends, past maxDocument bytes.
func limit(r io.Reader) io.Reader { return &limited{r: r, left: maxDocument} }

type limited struct {
	r    io.Reader
	left int
}

func (l *limited) Read(p []byte) (int, error) {
	n, err := l.r.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, fmt.Errorf("document is longer than %d bytes", maxDocument)
	}
	return n, err
}
