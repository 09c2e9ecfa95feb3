package scale

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// WriteJSON writes r as indented JSON, with its fits made anew. The same Result
// gives the same bytes.
func WriteJSON(w io.Writer, r Result) error {
	if err := r.Validate(); err != nil {
		return fmt.Errorf("scale: write JSON: %w", err)
	}
	out := json.NewEncoder(w)
	out.SetEscapeHTML(false)
	out.SetIndent("", "  ")
	if err := out.Encode(filled(r.Fitted())); err != nil {
		return fmt.Errorf("scale: write JSON: %w", err)
	}
	return nil
}

// filled returns r with empty slices for nil ones.
func filled(r Result) Result {
	r.Kind, r.SchemaVersion = Kind, SchemaVersion
	r.Limitations, r.Rows = some(r.Limitations), some(r.Rows)
	r.Skipped, r.Invalid = some(r.Skipped), some(r.Invalid)
	r.Environment.Tags, r.Environment.CommandLine = some(r.Environment.Tags), some(r.Environment.CommandLine)
	for i := range r.Rows {
		r.Rows[i].Series = some(r.Rows[i].Series)
		for k := range r.Rows[i].Series {
			r.Rows[i].Series[k].Points = some(r.Rows[i].Series[k].Points)
		}
	}
	return r
}

// some returns a copy of s that is not nil.
func some[T any](s []T) []T { return append(make([]T, 0, len(s)), s...) }

// maxDocument bounds what is read into memory, in bytes.
const maxDocument = 64 << 20

// ReadJSON reads what [WriteJSON] wrote, and makes the fits of the points it
// finds. Another kind or a newer version, an unknown field, text after the
// document, more than 64 MiB, and what [Result.Validate] refuses are errors.
func ReadJSON(r io.Reader) (Result, error) {
	result, err := readJSON(r)
	if err != nil {
		return Result{}, fmt.Errorf("scale: read JSON: %w", err)
	}
	return result.Fitted(), nil
}

func readJSON(r io.Reader) (result Result, err error) {
	data, err := io.ReadAll(io.LimitReader(r, maxDocument+1))
	switch {
	case err != nil:
		return Result{}, err
	case len(data) > maxDocument:
		return Result{}, fmt.Errorf("document is over %d bytes", maxDocument)
	}
	if err := checkKind(data); err != nil {
		return Result{}, err
	}
	if err := decode(data, &result); err != nil {
		return Result{}, err
	}
	return result, result.Validate()
}

// checkKind goes first, so that a document of another kind is called that.
func checkKind(data []byte) error {
	var head struct {
		Kind          string `json:"kind"`
		SchemaVersion int    `json:"schemaVersion"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	switch {
	case head.Kind != Kind:
		return fmt.Errorf("kind is %q, want %q", head.Kind, Kind)
	case head.SchemaVersion != SchemaVersion:
		return fmt.Errorf("schema version is %d, this program reads %d", head.SchemaVersion, SchemaVersion)
	}
	return nil
}

// decode reads one document and nothing else.
func decode(data []byte, v any) error {
	in := json.NewDecoder(bytes.NewReader(data))
	in.DisallowUnknownFields()
	if err := in.Decode(v); err != nil {
		return err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return errors.New("there is text after the document")
	}
	return nil
}
