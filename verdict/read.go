package verdict

import (
	"fmt"
	"io"
)

// ReadRecord reads one file.
func ReadRecord(name string, r io.Reader) (Record, error) {
	result, err := ReadJSON(r)
	if err != nil {
		return Record{}, fmt.Errorf("%s: %w", name, err)
	}
	return NewRecord(name, result), nil
}

// NewRecord returns what one result says.
func NewRecord(name string, r Result) Record {
	return Record{
		Files: []string{name}, Figures: Figures(r), Results: []Result{r},
		Conditions: []map[string]string{conditions(r)},
	}
}

// conditions returns what the times of r depend on.
func conditions(r Result) map[string]string {
	c := make(map[string]string)
	for _, kv := range benchConfig(r) {
		c[kv.Key] = string(kv.Value)
	}
	return c
}
