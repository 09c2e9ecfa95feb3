package verdict

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestWriteCSV(t *testing.T) {
	for name, r := range map[string]Result{
		"bench.csv": fixture(), "uncounted.csv": uncounted(), "invalid.csv": withInvalid(),
	} {
		equal(t, name, written(t, func(b *bytes.Buffer) error { return WriteCSV(b, r) }))
	}
}

func TestHeader(t *testing.T) {
	const seed = "scenario,msgs,payload_profile,wall_ms,msg_per_s,ns_per_msg_p50,ns_per_msg_p99,decodes_per_msg," +
		"hashes_per_msg,hashed_MB,decoded_MB,occupied_mem_delta_MB,gc_collections"
	const more = ",path,role,run,cpu_ns_per_msg,id_hashes_per_msg,id_hashed_MB,encodes_per_msg,copied_MB,alloc_MB," +
		"allocs_per_msg,peak_heap_MB,latency_p50_ns,latency_p99_ns,published,delivered,rejected,duplicates,dropped,verified"
	if got := strings.Join(SeedHeader(), ","); got != seed {
		t.Errorf("SeedHeader() = %s", got)
	}
	if got := strings.Join(Header(), ","); got != seed+more {
		t.Errorf("Header() = %s", got)
	}
}

func TestUncountedIsNeverZero(t *testing.T) {
	for i, row := range Rows(uncounted()) {
		for _, c := range columns {
			count := slices.Contains(countNames, c.name) || slices.Contains(bytesNames, c.name)
			if text, err := c.format(&row); err != nil || count && text != "n/a" {
				t.Errorf("row %d, column %s is %q, %v, want n/a", i, c.name, text, err)
			}
		}
	}
}

func TestRoleRows(t *testing.T) {
	perProcess := []string{
		"occupied_mem_delta_MB", "gc_collections", "cpu_ns_per_msg", "alloc_MB", "allocs_per_msg", "peak_heap_MB",
	}
	received := []string{"ns_per_msg_p50", "ns_per_msg_p99", "latency_p50_ns", "latency_p99_ns"}
	for _, row := range Rows(fixture()) {
		for _, c := range columns {
			text, err := c.format(&row)
			if err != nil {
				t.Fatal(err)
			}
			want := slices.Contains(perProcess, c.name) && row.Role != RoleAll ||
				slices.Contains(received, c.name) && row.Role == RolePublisher ||
				strings.HasPrefix(c.name, "latency") && row.Path == "theirs" ||
				row.Path == "theirs" && (slices.Contains(countNames, c.name) || slices.Contains(bytesNames, c.name))
			if (text == "n/a") != want {
				t.Errorf("%s %s %s: column %s is %q, want n/a: %t", row.Scenario, row.Path, row.Role, c.name, text, want)
			}
		}
	}
}

// Names with what CSV must quote, in the manner of dotnet/BenchmarkDotNet#1168.
func TestCSVReadsBackEqual(t *testing.T) {
	t.Setenv("LANG", "de_DE.UTF-8")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	r := fixture()
	for i, name := range []string{`a,b`, `say "x"`, "two\nlines", ` space `, `\.`, "ä;1,5"} {
		r.Runs[i].Path = name
	}
	r.Settings.Profile = `1,5kB@"100"`
	first := written(t, func(b *bytes.Buffer) error { return WriteCSV(b, r) })
	rows, err := ReadCSV(bytes.NewReader(first))
	if err != nil {
		t.Fatal(err)
	}
	if rows[0].Path != "a,b" || rows[2].Path != "two\nlines" || rows[0].Profile != r.Settings.Profile {
		t.Errorf("names read back: %q, %q, %q", rows[0].Path, rows[2].Path, rows[0].Profile)
	}
	second := written(t, func(b *bytes.Buffer) error { return writeRows(b, columns, rows) })
	if diff := cmp.Diff(string(first), string(second)); diff != "" {
		t.Errorf("written, read and written again (-first +second):\n%s", diff)
	}
	exact := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 0.5 })
	if diff := cmp.Diff(Rows(r), rows, exact); diff != "" {
		t.Errorf("rows read back (-want +got):\n%s", diff)
	}
}

func TestFormatsOfTheSeed(t *testing.T) {
	row := newRow(fixture(), microRun("baseline", 1, 828_591_234), RoleAll)
	got, err := format(columns[:seedColumns], &row)
	if err != nil {
		t.Fatal(err)
	}
	want := "micro_run1,1000,10/50/150kB@25/50/25,828.591,1206.9,637377,1926956,2.000,2.000,130.00,130.11,-1.54,7"
	if strings.Join(got, ",") != want {
		t.Errorf("got  %s\nwant %s", strings.Join(got, ","), want)
	}
}

func TestRoundsToZeroWithoutSign(t *testing.T) {
	c := column{decimals: 2, signed: true}
	for v, want := range map[float64]string{-0.001: "0.00", 0: "0.00", -0.006: "-0.01", 1234.5: "1234.50"} {
		if got, err := c.formatNumber(&v, c.decimals); err != nil || got != want {
			t.Errorf("formatNumber(%v) = %q, %v, want %q", v, got, err, want)
		}
	}
	for _, v := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		if got, err := c.formatNumber(&v, c.decimals); err == nil {
			t.Errorf("formatNumber(%v) = %q, want an error", v, got)
		}
	}
}

func TestWriteSeedCSV(t *testing.T) {
	got := written(t, func(b *bytes.Buffer) error { return WriteSeedCSV(b, fixture(), "baseline") })
	equal(t, "seed.csv", got)
	rows, err := ReadCSV(bytes.NewReader(got))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || rows[2].Scenario != "macro" || *rows[2].Decodes != 6 || rows[2].Path != "" || rows[2].Verified != nil {
		t.Errorf("read back: %+v", rows)
	}
}

func TestWriteSeedCSVNamesWhatIsMissing(t *testing.T) {
	var buf bytes.Buffer
	err := WriteSeedCSV(&buf, withInvalid(), "envelope")
	wantError(t, err, `path "envelope" has no row macro`, "the run was invalid: 1 of 1000 messages was not delivered to B")
	err = WriteSeedCSV(&buf, fixture(), "theirs")
	wantError(t, err, "no row micro_run1: it did not run", "no row micro_run2: it did not run")
	if buf.Len() > 0 {
		t.Errorf("wrote %q all the same", buf.String())
	}
}

// The published rows of logos-messaging/logos-delivery (testdata/README).
func TestReadPublishedCSV(t *testing.T) {
	const published = `scenario,msgs,payload_profile,wall_ms,msg_per_s,ns_per_msg_p50,ns_per_msg_p99,decodes_per_msg,hashes_per_msg,hashed_MB,decoded_MB,occupied_mem_delta_MB,gc_collections
micro_run1,1000,10/50/150kB@25/50/25,828.591,1206.9,641375,1925042,2.000,2.000,130.00,130.11,1.54,7
micro_run2,1000,10/50/150kB@25/50/25,795.166,1257.6,619167,1810625,2.000,2.000,130.00,130.11,1.51,8
macro,1000,10/50/150kB@25/50/25,4367.314,229.0,3510750,10701375,6.000,5.000,325.00,390.33,141.58,10
`
	rows, err := ReadCSV(strings.NewReader(published))
	if err != nil {
		t.Fatal(err)
	}
	again := written(t, func(b *bytes.Buffer) error { return writeRows(b, columns[:seedColumns], rows) })
	if diff := cmp.Diff(published, string(again)); diff != "" {
		t.Errorf("read and written again (-want +got):\n%s", diff)
	}
}

func TestReadCSVRefuses(t *testing.T) {
	good := string(written(t, func(b *bytes.Buffer) error { return WriteSeedCSV(b, fixture(), "baseline") }))
	for _, tt := range []struct {
		name, old, replacement string
		want                   []string
	}{
		{"column renamed", "wall_ms", "wall_s", []string{"column 4", `"wall_s"`, `"wall_ms"`}},
		{"column missing", ",gc_collections", "", []string{"12 columns, want 13, 32 or, of an open loop, 54"}},
		{"decimal comma", "818.591", `"818,591"`, []string{"line 2", "wall_ms", `"818,591"`}},
		{"dash for nothing", "818.591", "-", []string{"line 2", "wall_ms"}},
		{"not a number", "818.591", "NaN", []string{"line 2", "wall_ms", "NaN"}},
		{"infinite", "818.591", "Inf", []string{"wall_ms"}},
		{"hexadecimal", "818.591", "0x1p-2", []string{"wall_ms"}},
		{"negative count", "6.000", "-6.000", []string{"line 4", "decodes_per_msg", "negative"}},
		{"no messages", "micro_run2,1000", "micro_run2,0", []string{"line 3", "msgs", "less than 1"}},
		{"field missing", ",130.11", "", []string{"line 2", "wrong number of fields"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bad := strings.Replace(good, tt.old, tt.replacement, 1)
			if bad == good {
				t.Fatalf("%q is not in the good document:\n%s", tt.old, good)
			}
			_, err := ReadCSV(strings.NewReader(bad))
			wantError(t, err, append(tt.want, "verdict: read CSV")...)
		})
	}
	_, err := ReadCSV(strings.NewReader(""))
	wantError(t, err, "verdict: read CSV header: EOF")
}

func TestReadIsBounded(t *testing.T) {
	in := &limited{r: strings.NewReader("0123456789"), left: 10}
	if got, err := io.ReadAll(in); err != nil || string(got) != "0123456789" {
		t.Errorf("at the limit: %q, %v", got, err)
	}
	in = &limited{r: strings.NewReader("0123456789"), left: 9}
	_, err := io.ReadAll(in)
	wantError(t, err, "document is longer than")
}

func TestVerifiedColumn(t *testing.T) {
	for text, want := range map[string]*bool{"true": ptr(true), "false": ptr(false), "n/a": nil} {
		if got, err := parseBool(text); err != nil || (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("parseBool(%q) = %v, %v", text, got, err)
		}
	}
	_, err := parseBool("True")
	wantError(t, err, `"True" is neither true, false nor n/a`)
	var row Row
	if got, err := format(columns, &row); err != nil || got[len(got)-1] != "n/a" {
		t.Errorf("an empty row prints %q, %v", got, err)
	}
}

var errFull = errors.New("no space left")

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestWritersReportErrors(t *testing.T) {
	broken := fixture()
	broken.Runs[0].WallNanos = 0
	for name, write := range map[string]func(io.Writer, Result) error{
		"CSV":       WriteCSV,
		"seed CSV":  func(w io.Writer, r Result) error { return WriteSeedCSV(w, r, "baseline") },
		"sites":     WriteSites,
		"benchmark": WriteBench,
		"JSON":      WriteJSON,
		"text":      WriteText,
		"baseline":  func(w io.Writer, r Result) error { return WriteBaseline(w, r, Context{}) },
	} {
		if err := write(fullDisk{}, fixture()); !errors.Is(err, errFull) || !strings.HasPrefix(err.Error(), "verdict: write ") {
			t.Errorf("%s on a full disk: %v", name, err)
		}
		var buf bytes.Buffer
		err := write(&buf, broken)
		wantError(t, err, "verdict: write ", "runs[0] (micro_run1, path baseline): wallNanos is 0")
		if buf.Len() > 0 {
			t.Errorf("%s: wrote a result that is not valid", name)
		}
	}
	if err := WriteAcceptance(fullDisk{}, nil); !errors.Is(err, errFull) {
		t.Errorf("acceptance on a full disk: %v", err)
	}
	wantError(t, CheckSums(broken), "verdict: check sums", "wallNanos is 0")
}

// A publisher that delivers to itself has not brought the message to anyone.
func TestDeliveredIsWhatReceiversDelivered(t *testing.T) {
	r := fixture()
	find(t, &r, Macro, "baseline").Nodes[0].Delivered = 7
	got := make(map[string]float64)
	for _, row := range Rows(r) {
		if row.Scenario == Macro && row.Path == "baseline" {
			got[row.Role] = *row.Delivered
		}
	}
	if got[RoleAll] != messages || got[RolePublisher] != 7 || got[RoleReceiver] != messages {
		t.Errorf("delivered by role: %v", got)
	}
}
