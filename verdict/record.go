package verdict

import (
	"crypto/sha256"
	"slices"
	"strings"
)

// A Record is what files say of one state of the code, whatever their format.
type Record struct {
	Files   []string // names, as they were given
	Format  string   // as [FormatCSV]; of files of several formats, all of them
	Figures []Figure

	// Results are the whole documents, in order, where a file was JSON. Rows are
	// theirs and those of CSV: of another format only Figures are known.
	Results []Result
	Rows    []Row

	// Conditions are what times depend on, one for each file that says them, or
	// several where parts of a file differ: by name, as "cpu", "go", "profile".
	// A file in CSV names the profile and the messages and no machine.
	Conditions []map[string]string

	// Failed are the benchmarks of which Go benchmark lines say that they failed.
	Failed []Invalid

	Notes []string // what a reader of the verdict should know of the files

	content [sha256.Size]byte // sum of the only file, zero if none was read
}

// Invalid returns the benchmarks that failed and the invalid runs of all results.
func (r Record) Invalid() (all []Invalid) {
	all = append(all, r.Failed...)
	for _, result := range r.Results {
		all = append(all, result.Invalid...)
	}
	return all
}

// Declared returns the sites that the code declares, in order, and false where
// the files do not say.
func (r Record) Declared() (sites []string, known bool) {
	for _, result := range r.Results {
		if result.Environment.Sites != nil {
			sites, known = append(sites, result.Environment.Sites...), true
		}
	}
	slices.Sort(sites)
	return slices.Compact(sites), known
}

// Condition returns what all files that say anything of a condition agree on,
// "" where none does, and false where they do not agree.
func (r Record) Condition(name string) (value string, agreed bool) {
	for _, c := range r.Conditions {
		said, ok := c[name]
		if ok && value != "" && said != value {
			return "", false
		}
		if ok {
			value = said
		}
	}
	return value, true
}

// Lines returns the source lines that caused a kind of event at a place, as
// "archive/commit.go:88", nil where they are not known. The event is that of
// [counters.SiteLines]. Of a role, its nodes are meant.
func (r Record) Lines(p Place, event string) (lines []string) {
	for _, result := range r.Results {
		for _, run := range result.Runs {
			if Series(run.Scenario) != p.Scenario || run.Path != p.Path {
				continue
			}
			for _, node := range run.Nodes {
				if node.Name == p.Node || p.Node == RoleAll || node.Role == p.Node {
					lines = append(lines, node.linesOf(p.Site, event)...)
				}
			}
		}
	}
	slices.Sort(lines)
	return slices.Compact(lines)
}

func (n Node) linesOf(site, event string) (lines []string) {
	for _, l := range n.Lines {
		if l.Event == event && (l.Site == site || site == "") {
			lines = append(lines, l.At...)
		}
	}
	return lines
}

// Event returns the kind of event that a count is of, as [counters.SiteLines]
// names it, "" for a metric that counts none: "decode" for "decodes/msg" and
// "decoded-B/msg".
func (m Metric) Event() string {
	if m.Class != Count {
		return ""
	}
	name, _, _ := strings.Cut(m.Name, "/")
	return map[string]string{
		"decodes": "decode", "decoded-B": "decode",
		"hashes": "hash", "hashed-B": "hash",
		"id-hashes": "id_hash", "id-hashed-B": "id_hash",
		"encodes": "encode", "encoded-B": "encode",
		"copies": "copy", "copied-B": "copy",
	}[name]
}
