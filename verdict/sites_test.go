package verdict

import (
	"bytes"
	"strings"
	"testing"
)

func TestWriteSites(t *testing.T) {
	equal(t, "sites.csv", written(t, func(b *bytes.Buffer) error { return WriteSites(b, fixture()) }))
	equal(t, "uncounted-sites.csv", written(t, func(b *bytes.Buffer) error { return WriteSites(b, uncounted()) }))
}

func TestSitesHeader(t *testing.T) {
	const want = "scenario,path,node,site,decodes,decoded_bytes,hashes,hashed_bytes,id_hashes,id_hashed_bytes," +
		"encodes,encoded_bytes,copies,copied_bytes"
	if got := strings.Join(SitesHeader(), ","); got != want {
		t.Errorf("SitesHeader() = %s", got)
	}
}

func TestReadSitesRefuses(t *testing.T) {
	head := strings.Join(SitesHeader(), ",") + "\n"
	for name, tt := range map[string]struct{ text, want string }{
		"empty":        {"", "the first line is not"},
		"header":       {"a,b\n", "the first line is not"},
		"not a number": {head + "macro,raw,A,x.y,1,2,3,4,5,6,7,8,9,-1\n", "row 1: column copied_bytes"},
		"too great":    {head + "macro,raw,A,x.y,9007199254740993,2,3,4,5,6,7,8,9,1\n", "row 1: column decodes: 9007199254740993 is more than"},
		"short line":   {head + "macro,raw\n", "wrong number of fields"},
	} {
		_, err := ReadSites(strings.NewReader(tt.text))
		t.Run(name, func(t *testing.T) { wantError(t, err, "verdict: read sites", tt.want) })
	}
}

func TestCheckSums(t *testing.T) {
	for name, r := range map[string]Result{"counted": fixture(), "uncounted": uncounted(), "invalid": withInvalid()} {
		if err := CheckSums(r); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A check of sums is worth what it finds: each document is falsified in turn.
func TestCheckSumsFinds(t *testing.T) {
	r := fixture()
	read := func() ([]SiteRow, []Row) {
		lines, err := ReadSites(bytes.NewReader(written(t, func(b *bytes.Buffer) error { return WriteSites(b, r) })))
		if err != nil {
			t.Fatal(err)
		}
		return lines, Rows(r)
	}
	for _, tt := range []struct {
		name    string
		falsify func(lines []SiteRow, rows []Row) ([]SiteRow, []Row)
		want    string
	}{
		{"a site counted one more", func(l []SiteRow, rows []Row) ([]SiteRow, []Row) {
			l[0].Counts.HashedBytes++
			return l, rows
		}, "micro_run1, path baseline, node node: sum over sites: hashed_bytes 130000001, want 130000000"},
		{"a site is missing", func(l []SiteRow, rows []Row) ([]SiteRow, []Row) { return l[1:], rows }, "sum over sites: hashes 1000, want 2000"},
		{"a row says more", func(l []SiteRow, rows []Row) ([]SiteRow, []Row) {
			rows[0].Decodes = known(2.001)
			return l, rows
		}, "row all: decodes 2001, its sites add up to 2000"},
		{"a row says n/a", func(l []SiteRow, rows []Row) ([]SiteRow, []Row) {
			rows[0].CopiedMB = nil
			return l, rows
		}, "row all: has copied_bytes: false, its nodes were counted: true"},
		{"a row is missing", func(l []SiteRow, rows []Row) ([]SiteRow, []Row) { return l, rows[1:] }, "row all: is missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines, rows := tt.falsify(read())
			wantError(t, checkSums(r, lines, rows), tt.want)
		})
	}
}
