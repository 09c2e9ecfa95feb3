package verdict

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// documented compares the counts of r with those in the CSV block of the
// document. A per-message count must be equal whatever the workload; megabytes
// only where messages and payload profile are the same.
func documented(r Result, context Context) Criterion {
	c := Criterion{Number: CriterionDocument, Text: "docs/baseline.md is committed and its counts equal this run's"}
	switch {
	case context.BaselineDoc == nil:
		c.Verdict, c.Evidence = Warn, "docs/baseline.md is missing; make baseline writes it"
		return c
	case r.Settings.FilterPeers > 0:
		c.Verdict, c.Evidence = NotApplicable, "docs/baseline.md is of runs without light peers"
		return c
	case len(r.Runs) == 0 || !r.Environment.Counting:
		c.Verdict, c.Evidence = NotApplicable, "this run has no counts to compare"
		return c
	}
	rows, err := rowsInDocument(context.BaselineDoc)
	if err != nil {
		c.Verdict, c.Evidence = Fail, firstLine(err.Error())
		return c
	}
	c.Verdict, c.Evidence = compareRows(Rows(r), rows)
	if c.Verdict == Pass && !context.BaselineCommitted {
		c.Verdict = Warn
		c.Evidence = "docs/baseline.md is not committed as it is here; " + c.Evidence
	}
	return c
}

// rowsInDocument reads the fenced block whose first line is the CSV header.
func rowsInDocument(doc []byte) ([]Row, error) {
	head := []byte("```csv\n" + strings.Join(Header(), ",") + "\n")
	_, block, found := bytes.Cut(doc, head)
	if !found {
		return nil, errors.New("docs/baseline.md has no block ```csv with the header of this version")
	}
	body, _, closed := bytes.Cut(block, []byte("\n```"))
	if !closed {
		return nil, errors.New("docs/baseline.md: the block ```csv has no end")
	}
	rows, err := ReadCSV(bytes.NewReader(slices.Concat(head[len("```csv\n"):], body, []byte("\n"))))
	if err != nil {
		return nil, fmt.Errorf("docs/baseline.md: %w", err)
	}
	return rows, nil
}

// arms of one document are compared by what does not depend on the run's number.
type armKey struct{ scenario, path, role string }

func keyOf(row Row) armKey { return armKey{Series(row.Scenario), row.Path, row.Role} }

func compareRows(run, doc []Row) (Verdict, string) {
	known := make(map[armKey]Row)
	for _, row := range doc {
		if _, seen := known[keyOf(row)]; !seen {
			known[keyOf(row)] = row
		}
	}
	compared, megabytes := 0, true
	for _, row := range run {
		want, ok := known[keyOf(row)]
		where := fmt.Sprintf("%s, path %s, role %s", row.Scenario, row.Path, row.Role)
		if !ok {
			return Fail, "docs/baseline.md has no row for " + where
		}
		sameWorkload := row.Messages == want.Messages && row.Profile == want.Profile
		if difference := differentCount(row, want, sameWorkload); difference != "" {
			return Fail, where + ": " + difference
		}
		compared, megabytes = compared+1, megabytes && sameWorkload
	}
	evidence := fmt.Sprintf("%d rows equal, of %d rows in the document", compared, len(doc))
	if !megabytes {
		evidence += "; MB not compared: another number of messages or payload profile"
	}
	return Pass, evidence
}

// Columns that hold counts: of messages, and of bytes.
var (
	countNames = []string{"decodes_per_msg", "hashes_per_msg", "id_hashes_per_msg", "encodes_per_msg"}
	bytesNames = []string{"hashed_MB", "decoded_MB", "id_hashed_MB", "copied_MB"}
)

// differentCount names the first count column in which the rows differ, as
// printed, or returns "".
func differentCount(row, want Row, sameWorkload bool) string {
	names := countNames
	if sameWorkload {
		names = slices.Concat(countNames, bytesNames)
	}
	for _, c := range columns {
		if !slices.Contains(names, c.name) {
			continue
		}
		got, err1 := c.format(&row)
		documented, err2 := c.format(&want)
		if err := errors.Join(err1, err2); err != nil {
			return fmt.Sprintf("%s: %v", c.name, err)
		}
		if got != documented {
			return fmt.Sprintf("%s is %s, docs/baseline.md says %s", c.name, got, documented)
		}
	}
	return ""
}
