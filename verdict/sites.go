package verdict

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/msgpath/msgpath/counters"
)

// SiteRow is one line of the sites CSV: what happened in one run, on one node,
// at one site. Counts is nil for a node that was not counted; its site is
// "n/a".
type SiteRow struct {
	Scenario, Path, Node, Site string
	Counts                     *counters.Counts
}

// countColumn is one of the columns of the sites CSV that hold a count.
type countColumn struct {
	name  string
	field func(*counters.Counts) *uint64
}

var countColumns = []countColumn{
	{"decodes", func(c *counters.Counts) *uint64 { return &c.Decodes }},
	{"decoded_bytes", func(c *counters.Counts) *uint64 { return &c.DecodedBytes }},
	{"hashes", func(c *counters.Counts) *uint64 { return &c.Hashes }},
	{"hashed_bytes", func(c *counters.Counts) *uint64 { return &c.HashedBytes }},
	{"id_hashes", func(c *counters.Counts) *uint64 { return &c.IDHashes }},
	{"id_hashed_bytes", func(c *counters.Counts) *uint64 { return &c.IDHashedBytes }},
	{"encodes", func(c *counters.Counts) *uint64 { return &c.Encodes }},
	{"encoded_bytes", func(c *counters.Counts) *uint64 { return &c.EncodedBytes }},
	{"copies", func(c *counters.Counts) *uint64 { return &c.Copies }},
	{"copied_bytes", func(c *counters.Counts) *uint64 { return &c.CopiedBytes }},
}

// SitesHeader returns the names of the columns of [WriteSites], in order.
func SitesHeader() []string {
	names := []string{"scenario", "path", "node", "site"}
	for _, c := range countColumns {
		names = append(names, c.name)
	}
	return names
}

// WriteSites writes one line for each run, node and site under [SitesHeader]:
// totals of the run, as integers. A node that was not counted has one line
// whose site and counts are "n/a".
func WriteSites(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("verdict: write sites: %w", err)
	}
	records := [][]string{SitesHeader()}
	for _, run := range r.Runs {
		for _, node := range run.Nodes {
			records = append(records, siteRecords(run, node)...)
		}
	}
	if err := csv.NewWriter(w).WriteAll(records); err != nil {
		return fmt.Errorf("verdict: write sites: %w", err)
	}
	return nil
}

func siteRecords(run Run, node Node) [][]string {
	if node.Sites == nil {
		record := []string{run.Scenario, run.Path, node.Name, notAvailable}
		return [][]string{append(record, slices.Repeat([]string{notAvailable}, len(countColumns))...)}
	}
	var records [][]string
	for _, s := range node.Sites {
		record := []string{run.Scenario, run.Path, node.Name, s.Site}
		for _, c := range countColumns {
			record = append(record, strconv.FormatUint(*c.field(&s.Counts), 10))
		}
		records = append(records, record)
	}
	return records
}

// ReadSites reads what [WriteSites] wrote. At most 64 MiB are read.
func ReadSites(r io.Reader) ([]SiteRow, error) {
	records, err := csv.NewReader(limit(r)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("verdict: read sites: %w", err)
	}
	if len(records) == 0 || !slices.Equal(records[0], SitesHeader()) {
		return nil, fmt.Errorf("verdict: read sites: the first line is not %v", SitesHeader())
	}
	var rows []SiteRow
	for i, record := range records[1:] {
		row, err := parseSite(record)
		if err != nil {
			return nil, fmt.Errorf("verdict: read sites: row %d: %w", i+1, err)
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func parseSite(record []string) (SiteRow, error) {
	row := SiteRow{Scenario: record[0], Path: record[1], Node: record[2], Site: record[3]}
	if row.Site == notAvailable {
		return row, nil
	}
	row.Counts = new(counters.Counts)
	for i, c := range countColumns {
		v, err := strconv.ParseUint(record[4+i], 10, 64)
		if err != nil {
			return SiteRow{}, fmt.Errorf("column %s: %w", c.name, err)
		}
		if v > mostCount {
			return SiteRow{}, fmt.Errorf("column %s: %d is more than %d", c.name, v, uint64(mostCount))
		}
		*c.field(row.Counts) = v
	}
	return row, nil
}

// CheckSums proves that what is printed adds up, from the two CSV documents as
// they are read back: for each run and node the sum over the lines of
// [WriteSites] is the node's total, and the sum over nodes is what the rows of
// [Rows] say for each role. The error names every figure that does not.
func CheckSums(r Result) error {
	var buf bytes.Buffer
	if err := WriteSites(&buf, r); err != nil {
		return fmt.Errorf("verdict: check sums: %w", err)
	}
	lines, err := ReadSites(&buf)
	if err != nil {
		return fmt.Errorf("verdict: check sums: %w", err)
	}
	if err := checkSums(r, lines, Rows(r)); err != nil {
		return fmt.Errorf("verdict: check sums: %w", err)
	}
	return nil
}

func checkSums(r Result, lines []SiteRow, rows []Row) error {
	type place struct{ scenario, path, node string }
	printed := make(map[place]counters.Counts)
	for _, l := range lines {
		at := place{l.Scenario, l.Path, l.Node}
		if l.Counts != nil {
			printed[at] = printed[at].Add(*l.Counts)
		}
	}
	var errs []error
	for _, run := range r.Runs {
		sums := make(map[string]counters.Counts) // by role
		for _, node := range run.Nodes {
			sum := printed[place{run.Scenario, run.Path, node.Name}]
			where := fmt.Sprintf("%s, path %s, node %s", run.Scenario, run.Path, node.Name)
			errs = append(errs, differences(where+": sum over sites", sum, counters.Total(node.Sites))...)
			sums[RoleAll] = sums[RoleAll].Add(sum)
			if node.Role != RoleAll {
				sums[node.Role] = sums[node.Role].Add(sum)
			}
		}
		errs = append(errs, checkRows(run, sums, rows)...)
	}
	return errors.Join(errs...)
}

func differences(where string, got, want counters.Counts) (errs []error) {
	for _, c := range countColumns {
		if g, w := *c.field(&got), *c.field(&want); g != w {
			errs = append(errs, fmt.Errorf("%s: %s %d, want %d", where, c.name, g, w))
		}
	}
	return errs
}

// checkRows compares the rows of one run with the sums over its sites, by role.
func checkRows(run Run, sums map[string]counters.Counts, rows []Row) (errs []error) {
	for _, role := range roles(run) {
		where := fmt.Sprintf("%s, path %s, row %s", run.Scenario, run.Path, role)
		i := slices.IndexFunc(rows, func(row Row) bool {
			return row.Scenario == run.Scenario && row.Path == run.Path && row.Role == role
		})
		if i < 0 {
			errs = append(errs, fmt.Errorf("%s: is missing", where))
			continue
		}
		_, counted := countsOf(ofRole(run.Nodes, role))
		errs = append(errs, checkRow(where, &rows[i], sums[role], counted)...)
	}
	return errs
}

// checkRow compares one row with the sum over the sites of its nodes.
func checkRow(where string, row *Row, sum counters.Counts, counted bool) (errs []error) {
	msgs := float64(row.Messages)
	for _, f := range []struct {
		name  string
		got   *float64
		scale float64
		want  uint64
	}{
		{"decodes", row.Decodes, msgs, sum.Decodes},
		{"decoded_bytes", row.DecodedMB, megabyte, sum.DecodedBytes},
		{"hashes", row.Hashes, msgs, sum.Hashes},
		{"hashed_bytes", row.HashedMB, megabyte, sum.HashedBytes},
		{"id_hashes", row.IDHashes, msgs, sum.IDHashes},
		{"id_hashed_bytes", row.IDHashedMB, megabyte, sum.IDHashedBytes},
		{"encodes", row.Encodes, msgs, sum.Encodes},
		{"copied_bytes", row.CopiedMB, megabyte, sum.CopiedBytes},
	} {
		switch {
		case (f.got != nil) != counted:
			errs = append(errs, fmt.Errorf("%s: has %s: %t, its nodes were counted: %t", where, f.name, f.got != nil, counted))
		case counted && uint64(math.Round(*f.got*f.scale)) != f.want:
			errs = append(errs, fmt.Errorf("%s: %s %.0f, its sites add up to %d", where, f.name, *f.got*f.scale, f.want))
		}
	}
	return errs
}
