package verdict

import (
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/msgpath/msgpath/counters"
)

// lockHead begins every lock file.
const lockHead = "# Counts and bytes per message by scenario, path, node, site and event. Written by: make lock\n"

// workloadHead begins the line that names the workload.
const workloadHead = "# workload: "

// ErrNotLockable is wrapped by an error of [WriteLock] that says why the counts
// of a result are not worth keeping: there are none, a run is invalid or not verified, or
// runs disagree.
var ErrNotLockable = errors.New("result cannot be locked")

// WriteLock writes what r counted as lines that a version control system shows
// well: sorted, one for each event of each site,
//
//	macro zerocopy B relay.validator decode 1.000 65046.750
//
// which reads: in macro, on path zerocopy, node B decoded each message once at
// site relay.validator, 65046.75 bytes of it on average. Events are those of
// [counters.SiteLines]; a site at which nothing happened has no line. The line
// before them names the workload, on which the bytes depend.
func WriteLock(w io.Writer, r Result) error {
	lines, err := lockLines(r)
	if err != nil {
		return fmt.Errorf("verdict: write lock: %w", err)
	}
	s := r.Settings
	workload := fmt.Sprintf(workloadHead+"seed %d, profile %s, hash %s, archive %s\n",
		s.Seed, s.Profile, s.Hash, s.Archive)
	if _, err := io.WriteString(w, lockHead+workload+strings.Join(lines, "")); err != nil {
		return fmt.Errorf("verdict: write lock: %w", err)
	}
	return nil
}

func lockLines(r Result) ([]string, error) {
	if err := errors.Join(r.Validate(), lockable(r)); err != nil {
		return nil, err
	}
	var lines []string
	for _, scenario := range scenarios(r.Runs) {
		for _, a := range arms(r.Runs, scenario) {
			if !sameCounts(a.runs) {
				return nil, fmt.Errorf("%w: the runs of %s, path %s, count differently", ErrNotLockable, scenario, a.path)
			}
			for _, node := range a.runs[0].Nodes {
				lines = append(lines, nodeLockLines(scenario, a.runs[0], node)...)
			}
		}
	}
	slices.Sort(lines)
	return lines, nil
}

func lockable(r Result) error {
	switch {
	case len(r.Invalid) > 0:
		return fmt.Errorf("%w: %s of path %s is invalid", ErrNotLockable, r.Invalid[0].Scenario, r.Invalid[0].Path)
	case len(r.Runs) == 0:
		return fmt.Errorf("%w: it has no run", ErrNotLockable)
	case !r.Verified:
		return fmt.Errorf("%w: it is not verified", ErrNotLockable)
	}
	for _, run := range r.Runs {
		if !run.Verified {
			return fmt.Errorf("%w: %s is not verified", ErrNotLockable, placeOf(run))
		}
		if sum, ok := countsOf(run.Nodes); !ok || sum == (counters.Counts{}) {
			return fmt.Errorf("%w: counts of %s are n/a", ErrNotLockable, placeOf(run))
		}
	}
	return nil
}

func nodeLockLines(scenario string, run Run, node Node) (lines []string) {
	for _, s := range node.Sites {
		for _, e := range eventsOf(s.Counts) {
			if e.count+e.bytes > 0 {
				lines = append(lines, fmt.Sprintf("%s %s %s %s %s %s %s\n", scenario, run.Path, node.Name, s.Site, e.name,
					perMessageExact(e.count, run.Messages), perMessageExact(e.bytes, run.Messages)))
			}
		}
	}
	return lines
}

// event is one kind of event of a site, with its name in [counters.SiteLines].
type event struct {
	name         string
	count, bytes uint64
}

var eventNames = []string{"decode", "hash", "id_hash", "encode", "copy"}

func eventsOf(c counters.Counts) []event {
	return []event{
		{"decode", c.Decodes, c.DecodedBytes},
		{"hash", c.Hashes, c.HashedBytes},
		{"id_hash", c.IDHashes, c.IDHashedBytes},
		{"encode", c.Encodes, c.EncodedBytes},
		{"copy", c.Copies, c.CopiedBytes},
	}
}

// perMessageExact prints n per message with three decimals, and with as many as
// it takes where three would hide a part of n.
func perMessageExact(n uint64, messages int) string {
	v := float64(n) / float64(messages)
	text := fixed(v, 3)
	if printed, err := strconv.ParseFloat(text, 64); err != nil || uint64(math.Round(printed*float64(messages))) != n {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return text
}

// CompareLock returns the lines by which two lock files differ, in order: those
// of the first alone behind "-", those of the second alone behind "+". Blank
// lines, and comments but the one that names the workload, do not matter.
func CompareLock(locked, measured string) (lines []string) {
	before, after := lockContent(locked), lockContent(measured)
	all := slices.Concat(before, after)
	slices.Sort(all)
	for _, line := range slices.Compact(all) {
		_, was := slices.BinarySearch(before, line)
		_, is := slices.BinarySearch(after, line)
		if was && !is {
			lines = append(lines, "-"+line)
		} else if is && !was {
			lines = append(lines, "+"+line)
		}
	}
	return lines
}

func lockContent(text string) (lines []string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line != "" && (!strings.HasPrefix(line, "#") || strings.HasPrefix(line, workloadHead)) {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	return lines
}
