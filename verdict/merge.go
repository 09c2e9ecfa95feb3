package verdict

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// figureKey is what a figure is of, whichever run it is from.
type figureKey struct {
	Place
	metric string
}

// series is the runs of one scenario on one path.
type series struct{ scenario, path string }

// Merge returns what several files say together of one state of the code. Files
// of one format add samples: where two have a run of the same number at one place,
// those of the later file are numbered on. Figures of the sites CSV become means
// per message where another file has the number of messages of that scenario and
// path.
//
// The same file twice, be it as a copy, and a figure that files of two formats
// have, are errors: the same run would be two samples.
func Merge(records ...Record) (Record, error) {
	if len(records) == 0 {
		return Record{}, errors.New("verdict: merge records: there are none")
	}
	if err := checkFiles(records); err != nil {
		return Record{}, fmt.Errorf("verdict: merge records: %w", err)
	}
	var merged Record
	from := make(map[figureKey]Record)
	for _, record := range perMessageOf(records) {
		for _, f := range record.Figures {
			key := figureKey{f.Place, f.Metric.Name}
			if first, there := from[key]; there && first.Format != record.Format {
				return Record{}, fmt.Errorf("verdict: merge records: %s and %s say the same runs twice: give one (%s is in both)",
					first.Files[0], record.Files[0], key)
			}
			from[key] = record
		}
		merged.add(record)
	}
	return merged, nil
}

func (k figureKey) String() string {
	parts := []string{k.Scenario, k.Path, k.Node, k.Site, k.metric}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " ")
}

// checkFiles finds a file that is there twice, by its name or as a copy.
func checkFiles(records []Record) error {
	for i, a := range records {
		for _, b := range records[:i] {
			for _, name := range a.Files {
				if slices.ContainsFunc(b.Files, func(other string) bool { return filepath.Clean(other) == filepath.Clean(name) }) {
					return fmt.Errorf("%s is there twice", name)
				}
			}
			if a.copies(b) {
				return fmt.Errorf("%s and %s say the same runs twice: give one", b.Files[0], a.Files[0])
			}
		}
	}
	return nil
}

// copies reports whether two records are of the same runs: a document's runs were
// made at one moment, and two files with times that are equal byte by byte are one.
// Two files that count alike are not: exact counts are.
func (r Record) copies(other Record) bool {
	if r.content == other.content && r.content != [sha256.Size]byte{} && r.timed() {
		return true
	}
	return slices.ContainsFunc(r.Results, func(a Result) bool {
		return slices.ContainsFunc(other.Results, func(b Result) bool {
			return a.MeasuredAt.Equal(b.MeasuredAt) && reflect.DeepEqual(a.Runs, b.Runs)
		})
	})
}

// timed reports whether any time is known.
func (r Record) timed() bool {
	return slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Metric.Class == Time && f.Known })
}

// perMessageOf turns totals of runs into means per message where it can.
func perMessageOf(records []Record) []Record {
	out := slices.Clone(records)
	for i, record := range out {
		if record.Format != FormatSites {
			continue
		}
		figures, without := slices.Clone(record.Figures), false
		for j, f := range figures {
			messages := messagesOf(records, series{f.Scenario, f.Path})
			if messages == 0 {
				without = true
				continue
			}
			figures[j].Metric.Name = strings.TrimSuffix(f.Metric.Name, perRun) + perMessage
			figures[j].Value /= float64(messages)
		}
		out[i].Figures = figures
		if without {
			out[i].Notes = append(slices.Clone(record.Notes), record.Files[0]+" has totals of runs: give a file with their number of messages too, as bench.csv, to compare means")
		}
	}
	return out
}

// messagesOf returns the messages of each run of a series, 0 where not known or
// not the same in all.
func messagesOf(records []Record, of series) (messages int) {
	for _, record := range records {
		for _, row := range record.Rows {
			if Series(row.Scenario) != of.scenario || row.Path != of.path {
				continue
			}
			if messages != 0 && messages != row.Messages {
				return 0
			}
			messages = row.Messages
		}
	}
	for _, record := range records {
		said, agreed := record.Condition("messages")
		if n, err := strconv.Atoi(said); messages == 0 && agreed && err == nil && record.has(of) {
			messages = n
		}
	}
	return messages
}

func (r *Record) has(of series) bool {
	return slices.ContainsFunc(r.Figures, func(f Figure) bool { return f.Scenario == of.scenario && f.Path == of.path })
}

// add puts the figures of another record behind those of r.
func (r *Record) add(more Record) {
	formats := append(strings.Split(r.Format, " + "), more.Format)
	slices.Sort(formats)
	r.Format = strings.TrimPrefix(strings.Join(slices.Compact(formats), " + "), " + ")

	last, taken := make(map[series]int), make(map[figureKey]map[int]bool)
	for _, f := range r.Figures {
		s, key := series{f.Scenario, f.Path}, figureKey{f.Place, f.Metric.Name}
		last[s] = max(last[s], f.Run)
		if taken[key] == nil {
			taken[key] = make(map[int]bool)
		}
		taken[key][f.Run] = true
	}
	behind := make(map[series]bool)
	for _, f := range more.Figures {
		if taken[figureKey{f.Place, f.Metric.Name}][f.Run] {
			behind[series{f.Scenario, f.Path}] = true
		}
	}
	for _, f := range more.Figures {
		if s := (series{f.Scenario, f.Path}); behind[s] {
			f.Run += last[s]
		}
		r.Figures = append(r.Figures, f)
	}
	r.Files = append(r.Files, more.Files...)
	r.Results = append(r.Results, more.Results...)
	r.Rows = append(r.Rows, more.Rows...)
	r.Conditions = append(r.Conditions, more.Conditions...)
	r.Notes = append(r.Notes, more.Notes...)
	r.Failed = append(r.Failed, more.Failed...)
}

// addConditions adds what is not there yet.
func (r *Record) addConditions(c map[string]string) {
	if !slices.ContainsFunc(r.Conditions, func(have map[string]string) bool { return maps.Equal(have, c) }) {
		r.Conditions = append(r.Conditions, c)
	}
}
