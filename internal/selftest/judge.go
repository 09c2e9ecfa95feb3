package selftest

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/msgpath/msgpath/bench/budgets"
	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/diff"
	"github.com/msgpath/msgpath/verdict/gate"
)

// unreadable is the exit code of a command that cannot read a file.
const unreadable = 2

// A judge returns the exit code for a JSON document, measured beside an unharmed
// one.
type judge struct {
	name  string
	judge func(document []byte, clean verdict.Record) (int, error)
}

// Names of judges.
const (
	byAcceptance = "acceptance"
	byGate       = "gate"
	byDiff       = "diff"
	byLock       = "lock"
	byChange     = "gate, change"
	byMemory     = "gate, memory"
)

// noRise is a budget that allows no count to rise anywhere.
const noRise = `version: 1
limits:
  - {node: "*", metric: "*es/msg", change: {max: 0}}
  - {node: "*", site: "*", metric: "*es/msg", change: {max: 0}}
`

// memoryBudget is the shipped budget of allocated bytes.
const memoryBudget = "memory"

var judges = []judge{
	{byAcceptance, judgeAcceptance},
	{byGate, func(document []byte, _ verdict.Record) (int, error) { return judgeGate(document, budgets.Names()) }},
	{byDiff, judgeDiff},
	{byLock, judgeLock},
	{byChange, judgeChange},
	{byMemory, func(document []byte, _ verdict.Record) (int, error) {
		return judgeGate(document, []string{memoryBudget})
	}},
}

// read reads a document as the commands do.
func read(document []byte) (verdict.Record, int, error) {
	record, err := verdict.ReadRecord("mutant", bytes.NewReader(document))
	switch {
	case errors.Is(err, verdict.ErrInvalid):
		return record, verdict.ExitInvalid, nil
	case err != nil:
		return record, unreadable, err
	}
	return record, verdict.ExitOK, nil
}

func judgeAcceptance(document []byte, _ verdict.Record) (int, error) {
	record, code, err := read(document)
	if err != nil || code != verdict.ExitOK {
		return code, err
	}
	result := record.Results[0]
	return verdict.ExitCode(result, verdict.Acceptance(result, verdict.Context{})), nil
}

// judgeGate asks the gate with shipped budgets.
func judgeGate(document []byte, names []string) (int, error) {
	record, code, err := read(document)
	if err != nil || code != verdict.ExitOK {
		return code, err
	}
	var all []gate.Budget
	for _, name := range names {
		file, text, err := budgets.Read(name)
		if err != nil {
			return 0, fmt.Errorf("selftest: %w", err)
		}
		budget, err := gate.Parse(file, text)
		if err != nil {
			return 0, fmt.Errorf("selftest: %w", err)
		}
		all = append(all, budget)
	}
	return gate.Judge(gate.Join(all...), record, nil).ExitCode(), nil
}

// judgeChange asks the gate whether anything rose.
func judgeChange(document []byte, clean verdict.Record) (int, error) {
	record, code, err := read(document)
	if err != nil || code != verdict.ExitOK {
		return code, err
	}
	budget, err := gate.Parse("no rise", []byte(noRise))
	if err != nil {
		return 0, fmt.Errorf("selftest: %w", err)
	}
	return gate.Judge(budget, record, &clean).ExitCode(), nil
}

func judgeDiff(document []byte, clean verdict.Record) (int, error) {
	record, code, err := read(document)
	if err != nil || code != verdict.ExitOK {
		return code, err
	}
	return diff.ExitCode(diff.Compare(clean, record, diff.Options{})), nil
}

func judgeLock(document []byte, clean verdict.Record) (int, error) {
	record, code, err := read(document)
	if err != nil || code != verdict.ExitOK {
		return code, err
	}
	var before, after bytes.Buffer
	if err := verdict.WriteLock(&before, clean.Results[0]); err != nil {
		return 0, fmt.Errorf("selftest: %w", err)
	}
	err = verdict.WriteLock(&after, record.Results[0])
	switch {
	case errors.Is(err, verdict.ErrNotLockable):
		return verdict.ExitInvalid, nil
	case err != nil:
		return 0, fmt.Errorf("selftest: %w", err)
	case len(verdict.CompareLock(before.String(), after.String())) > 0:
		return verdict.ExitFailed, nil
	}
	return verdict.ExitOK, nil
}
