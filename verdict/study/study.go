package study

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/msgpath/msgpath/verdict"
)

// Study is what one command measured.
type Study struct {
	Name        string              `json:"name"`            // of the command, and of its files: archive, sync, recover
	Title       string              `json:"title"`           // of the page
	About       []string            `json:"about"`           // paragraphs: what was done, and how to read the tables
	Tables      []Table             `json:"tables"`          // in order
	Notes       []string            `json:"notes,omitempty"` // what the figures do not show
	Environment verdict.Environment `json:"environment"`
}

// Table is rows of equally many values.
type Table struct {
	Title   string   `json:"title"`
	Columns []Column `json:"columns"`
	Rows    []Row    `json:"rows"`
}

// Column is what the values of a table's column are.
type Column struct {
	Name   string `json:"name"`             // with its unit: "time, ms"
	Digits int    `json:"digits,omitempty"` // behind the decimal point, of float64 values, as text shows them
}

// Row is the values of a row: string, int, int64, uint64, float64, or nil where
// there is none.
type Row []any

// Missing is what text says where there is no value.
const Missing = "–"

// Validate reports everything wrong with s.
func (s Study) Validate() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("study: "+format, args...)) }
	if s.Name == "" || s.Title == "" || len(s.Tables) == 0 {
		bad("name %q, title %q, %d tables: want all three", s.Name, s.Title, len(s.Tables))
	}
	for _, t := range s.Tables {
		if len(t.Rows) == 0 {
			bad("table %q has no rows", t.Title)
		}
		for i, row := range t.Rows {
			if len(row) != len(t.Columns) {
				bad("table %q: row %d has %d values for %d columns", t.Title, i+1, len(row), len(t.Columns))
			}
			for _, v := range row {
				if !valid(v) {
					bad("table %q: row %d has a value of type %T, %v", t.Title, i+1, v, v)
				}
			}
		}
	}
	return errors.Join(errs...)
}

func valid(v any) bool {
	switch v := v.(type) {
	case nil, string, int, int64, uint64:
		return true
	case float64:
		return !math.IsNaN(v) && !math.IsInf(v, 0)
	}
	return false
}

// show returns a value as text shows it: whole numbers with commas between
// thousands.
func (c Column) show(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case float64:
		whole, fraction, _ := strings.Cut(strconv.FormatFloat(v, 'f', c.Digits, 64), ".")
		if fraction != "" {
			fraction = "." + fraction
		}
		return thousands(whole) + fraction
	case int, int64, uint64:
		return thousands(fmt.Sprint(v))
	}
	return Missing
}

// thousands puts commas between the thousands of a whole number.
func thousands(digits string) string {
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// writer returns t filled in.
func (t Table) writer() table.Writer {
	w := table.NewWriter()
	w.SetStyle(table.StyleLight)
	w.Style().Format.Header = text.FormatDefault
	var head table.Row
	var configs []table.ColumnConfig
	for i, c := range t.Columns {
		head = append(head, c.Name)
		align := text.AlignLeft
		if t.numeric(i) {
			align = text.AlignRight
		}
		configs = append(configs, table.ColumnConfig{Number: i + 1, Align: align, AlignHeader: align})
	}
	w.AppendHeader(head)
	w.SetColumnConfigs(configs)
	for _, row := range t.Rows {
		var shown table.Row
		for i, v := range row {
			shown = append(shown, t.Columns[i].show(v))
		}
		w.AppendRow(shown)
	}
	return w
}

// WriteCSV writes the table alone, its column names first and values as they are.
func (t Table) WriteCSV(w io.Writer) error {
	c := csv.NewWriter(w)
	var names []string
	for _, column := range t.Columns {
		names = append(names, column.Name)
	}
	_ = c.Write(names) // Error has what failed
	for _, row := range t.Rows {
		var values []string
		for _, v := range row {
			if v == nil {
				v = ""
			}
			values = append(values, fmt.Sprint(v))
		}
		_ = c.Write(values)
	}
	c.Flush()
	return c.Error()
}

// Markdown returns the table alone, without its title.
func (t Table) Markdown() string { return t.writer().RenderMarkdown() }

// numeric reports whether a column has no words.
func (t Table) numeric(column int) bool {
	for _, row := range t.Rows {
		if _, word := row[column].(string); word {
			return false
		}
	}
	return true
}

// textWidth is that of paragraphs in text, in columns.
const textWidth = 100

// wrap breaks a paragraph into lines, without the spaces that end them.
func wrap(paragraph string) string {
	var lines []string
	for line := range strings.Lines(text.WrapSoft(paragraph, textWidth)) {
		lines = append(lines, strings.TrimSpace(line))
	}
	return strings.Join(lines, "\n")
}

// WriteText writes s for a terminal.
func WriteText(w io.Writer, s Study) error {
	return s.write(w, func(b *strings.Builder) {
		for _, p := range s.About {
			fmt.Fprintf(b, "%s\n\n", wrap(p))
		}
		for _, t := range s.Tables {
			fmt.Fprintf(b, "%s\n%s\n\n", t.Title, t.writer().Render())
		}
		for _, n := range s.Notes {
			fmt.Fprintf(b, "%s\n\n", wrap("Note: "+n))
		}
	})
}

// WriteMarkdown writes s as a page.
func WriteMarkdown(w io.Writer, s Study) error {
	return s.write(w, func(b *strings.Builder) {
		fmt.Fprintf(b, "# %s\n\n", s.Title)
		for _, p := range s.About {
			fmt.Fprintf(b, "%s\n\n", p)
		}
		for _, t := range s.Tables {
			fmt.Fprintf(b, "## %s\n\n%s\n\n", t.Title, t.Markdown())
		}
		for _, n := range s.Notes {
			fmt.Fprintf(b, "Note: %s\n\n", n)
		}
		e := s.Environment
		fmt.Fprintf(b, "Generated by `%s` at commit %s, %s %s/%s, %s, %d cores (GOMAXPROCS %d), kernel %s, load %.2f at the start. The same figures as JSON: [%s.json](%[11]s.json).\n",
			strings.Join(e.CommandLine, " "), e.Commit, e.Go, e.GOOS, e.GOARCH, e.CPU, e.Cores, e.GOMAXPROCS, e.Kernel, e.Load1, s.Name)
	})
}

func (s Study) write(w io.Writer, fill func(*strings.Builder)) error {
	if err := s.Validate(); err != nil {
		return err
	}
	var b strings.Builder
	fill(&b)
	if _, err := io.WriteString(w, strings.TrimRight(b.String(), "\n")+"\n"); err != nil {
		return fmt.Errorf("study: write: %w", err)
	}
	return nil
}

// WriteJSON writes s as JSON.
func WriteJSON(w io.Writer, s Study) error {
	if err := s.Validate(); err != nil {
		return err
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if err := e.Encode(s); err != nil {
		return fmt.Errorf("study: write JSON: %w", err)
	}
	return nil
}

// ReadJSON reads what WriteJSON wrote. Numbers come back as float64. Fields that it
// does not know are an error.
func ReadJSON(r io.Reader) (Study, error) {
	d := json.NewDecoder(r)
	d.DisallowUnknownFields()
	var s Study
	if err := d.Decode(&s); err != nil {
		return Study{}, fmt.Errorf("study: read JSON: %w", err)
	}
	return s, s.Validate()
}
