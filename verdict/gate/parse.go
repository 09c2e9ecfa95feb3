package gate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// version is that of the files that [Parse] reads.
const version = "1"

// Parse reads a budget. The name stands in positions and errors. The error is
// everything that is wrong with the file, joined, each with its position.
func Parse(name string, data []byte) (Budget, error) {
	p := parser{file: name}
	limits := p.document(data)
	if err := p.err(); err != nil {
		return Budget{}, err
	}
	return Budget{Files: []string{name}, Limits: limits}, nil
}

// parser walks the nodes of one file and collects what is wrong.
type parser struct {
	file     string
	problems []problem
}

// problem is something that is wrong, and where.
type problem struct {
	at   Position
	what string
}

// err returns all problems in the order of the file.
func (p *parser) err() error {
	slices.SortStableFunc(p.problems, func(a, b problem) int {
		return cmp.Or(cmp.Compare(a.at.Line, b.at.Line), cmp.Compare(a.at.Column, b.at.Column))
	})
	var errs []error
	for _, problem := range p.problems {
		errs = append(errs, fmt.Errorf("gate: parse budget: %s: %s", problem.at, problem.what))
	}
	return errors.Join(errs...)
}

func (p *parser) at(n *yaml.Node) Position { return Position{p.file, n.Line, n.Column} }

func (p *parser) failf(n *yaml.Node, format string, args ...any) {
	p.problems = append(p.problems, problem{p.at(n), fmt.Sprintf(format, args...)})
}

func (p *parser) document(data []byte) (limits []Limit) {
	if p.breaks(data); len(p.problems) > 0 {
		return nil
	}
	var doc yaml.Node
	if err := yaml.Load(data, &doc); err != nil {
		p.problems = append(p.problems, syntaxProblem(p.file, err))
		return nil
	}
	root := doc.Content[0]
	keys := p.mapping(root, "budget", "version", "settings", "limits", "tables")
	if keys == nil {
		return nil
	}
	if v := keys["version"]; v == nil {
		p.failf(root, "version is missing, want %s", version)
	} else if v.Kind != yaml.ScalarNode || v.Value != version {
		p.failf(v, "version is %q, this program reads %s", v.Value, version)
	}
	for _, n := range p.list(keys["limits"], "limits") {
		limits = append(limits, p.limit(n)...)
	}
	for _, n := range p.list(keys["tables"], "tables") {
		limits = append(limits, p.table(n)...)
	}
	settings := p.settings(keys["settings"])
	for i := range limits {
		limits[i].Settings = settings
	}
	if len(limits) == 0 && len(p.problems) == 0 {
		p.failf(root, "has no limit")
	}
	return limits
}

// breaks reports the characters that end a line for some readers of YAML and not
// for others: behind one of them no position would be sure.
func (p *parser) breaks(data []byte) {
	at := Position{p.file, 1, 1}
	text := string(data)
	for i, c := range text {
		switch {
		case c == '\n':
			at.Line, at.Column = at.Line+1, 1
			continue
		case c == '\u0085' || c == '\u2028' || c == '\u2029' || c == '\r' && !strings.HasPrefix(text[i+1:], "\n"):
			p.problems = append(p.problems, problem{at, fmt.Sprintf("the character %U ends a line for some readers and not for others", c)})
		}
		at.Column++
	}
}

// settings reads what the limits of the file were made for. A setting may look
// like a number.
func (p *parser) settings(n *yaml.Node) map[string]string {
	if n == nil {
		return nil
	}
	values := p.mapping(n, "settings", settings...)
	texts := make(map[string]string)
	for name, v := range values {
		if v.Kind != yaml.ScalarNode || v.Value == "" {
			p.failf(v, "%s is %s, want a text or a number", name, kindOf(v))
			continue
		}
		texts[name] = v.Value
	}
	return texts
}

// syntaxProblem says what keeps a file from being YAML. What the whole file
// lacks, or has too much of, stands at its beginning.
func syntaxProblem(file string, err error) problem {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return problem{Position{file, 1, 1}, err.Error()}
	}
	return problem{Position{file, max(e.Mark.Line, 1), max(e.Mark.Column, 1)}, strings.TrimPrefix(e.Message, "yaml: ")}
}

// mapping returns the values of a mapping by key, or nil if n is none. The keys
// that are known come in the order in which a message should name them.
func (p *parser) mapping(n *yaml.Node, what string, known ...string) map[string]*yaml.Node {
	if n.Kind != yaml.MappingNode {
		p.failf(n, "%s is %s, want a mapping", what, kindOf(n))
		return nil
	}
	values := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		switch {
		case !slices.Contains(known, key.Value) || key.Kind != yaml.ScalarNode:
			p.failf(key, "%s has the unknown key %q%s; known are %s", what, key.Value, suggest(key.Value, known), strings.Join(known, ", "))
		case values[key.Value] != nil:
			p.failf(key, "key %q is there twice", key.Value)
		default:
			values[key.Value] = value
		}
	}
	return values
}

// list returns the items of a list; none of a key that is not there.
func (p *parser) list(n *yaml.Node, what string) []*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		p.failf(n, "%s is %s, want a list", what, kindOf(n))
		return nil
	}
	if len(n.Content) == 0 {
		p.failf(n, "%s is empty", what)
	}
	return n.Content
}

// text returns a text, "" where the key is not there.
func (p *parser) text(n *yaml.Node, what string) string {
	switch {
	case n == nil:
		return ""
	case n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str":
		p.failf(n, "%s is %s, want a text", what, kindOf(n))
	case strings.TrimSpace(n.Value) == "":
		p.failf(n, "%s is empty", what)
	}
	return strings.Join(strings.Fields(n.Value), " ")
}

// pattern returns a pattern of names, or what stands for it where the key is not
// there.
func (p *parser) pattern(n *yaml.Node, what, absent string) string {
	if n == nil {
		return absent
	}
	s := p.text(n, what)
	if _, err := path.Match(s, ""); err != nil {
		p.failf(n, "%s %q is no pattern: %v", what, s, err)
	}
	return s
}

// placeKeys are the keys that a limit and a table have in common.
var placeKeys = []string{"name", "scenario", "path", "node", "reason", "owner"}

// common reads what a limit and a table have in common.
func (p *parser) common(n *yaml.Node, keys map[string]*yaml.Node) Limit {
	return Limit{
		At: p.at(n), Name: p.text(keys["name"], "name"),
		Reason: p.text(keys["reason"], "reason"), Owner: p.text(keys["owner"], "owner"),
		Place: Place{
			Scenario: p.pattern(keys["scenario"], "scenario", "*"),
			Path:     p.pattern(keys["path"], "path", "*"),
			Node:     p.pattern(keys["node"], "node", "all"),
		},
	}
}

// limit reads one item of limits, which is none where it is no mapping.
func (p *parser) limit(n *yaml.Node) []Limit {
	kinds := []Kind{Hard, Soft, Change, SoftChange}
	known := append(slices.Clone(placeKeys), "site", "metric")
	for _, kind := range kinds {
		known = append(known, string(kind))
	}
	keys := p.mapping(n, "limit", known...)
	if keys == nil {
		return nil
	}
	l := p.common(n, keys)
	l.Site, l.Metric = p.pattern(keys["site"], "site", ""), p.pattern(keys["metric"], "metric", "")
	if keys["metric"] == nil {
		p.failf(n, "limit has no metric")
	}
	bounded := false
	for _, kind := range kinds {
		if v := keys[string(kind)]; v != nil {
			bounded = true
			l.Ranges = append(l.Ranges, p.bounds(v, kind, l.Metric))
		}
	}
	if !bounded {
		p.failf(n, "limit bounds nothing: it has none of hard, soft, change, soft-change")
	}
	l.Name = l.title()
	return []Limit{l}
}

// bounds reads the mapping behind hard, soft, change or soft-change.
func (p *parser) bounds(n *yaml.Node, kind Kind, metric string) Range {
	r := Range{Kind: kind}
	keys := p.mapping(n, string(kind), "equal", "min", "max")
	if keys == nil {
		return r
	}
	for key, bound := range map[string]**Quantity{"equal": &r.Equal, "min": &r.Min, "max": &r.Max} {
		if v := keys[key]; v != nil {
			*bound = p.quantity(v, kind, metric)
		}
	}
	switch {
	case len(n.Content) == 0:
		p.failf(n, "%s bounds nothing: it has none of equal, min, max", kind)
	case keys["equal"] != nil && len(keys) > 1:
		p.failf(keys["equal"], "%s has equal beside min or max", kind)
	case r.Min != nil && r.Max != nil && r.Min.Percent != r.Max.Percent:
		p.failf(keys["min"], "%s has min and max of which one is in percent", kind)
	case r.Min != nil && r.Max != nil && r.Min.Value > r.Max.Value:
		p.failf(keys["min"], "%s has a min of %s above its max of %s", kind, r.Min.text, r.Max.text)
	}
	return r
}

// quantity reads a number, nil if it is none.
func (p *parser) quantity(n *yaml.Node, kind Kind, metric string) *Quantity {
	if n.Kind != yaml.ScalarNode {
		p.failf(n, "a bound is %s, want a number", kindOf(n))
		return nil
	}
	q, err := parseQuantity(n.Value, metric)
	switch {
	case err != nil:
		p.failf(n, "%v", err)
	case q.Percent && !kind.relative():
		p.failf(n, "%s: percent are of a base: they can stand under change and soft-change", n.Value)
	default:
		q.At = p.at(n)
		return &q
	}
	return nil
}

// table reads one item of tables: a limit for each cell, in order of rows.
func (p *parser) table(n *yaml.Node) (limits []Limit) {
	keys := p.mapping(n, "table", append(slices.Clone(placeKeys), "metrics", "sites")...)
	if keys == nil {
		return nil
	}
	all := p.common(n, keys)
	all.Table, all.Title = all.At, all.Name
	if all.Title == "" {
		all.Title = all.Place.String() + ", every site"
	}
	var metrics []string
	for _, m := range p.list(keys["metrics"], "metrics") {
		metrics = append(metrics, p.pattern(m, "metric", ""))
	}
	for _, key := range []string{"metrics", "sites"} {
		if keys[key] == nil {
			p.failf(n, "table has no %s", key)
		}
	}
	if keys["sites"] == nil {
		return nil
	}
	for _, row := range p.rows(keys["sites"]) {
		limits = append(limits, p.cells(all, row, metrics)...)
	}
	return limits
}

// tableRow is one line of a table's sites.
type tableRow struct {
	site   string
	except []string // the sites that have a line of their own, of the line "*"
	cells  *yaml.Node
}

// rows returns the lines of a table in order.
func (p *parser) rows(n *yaml.Node) (rows []tableRow) {
	if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
		p.failf(n, "sites is %s, want a mapping of sites to lists, with at least one", kindOf(n))
		return nil
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		site := p.text(key, "site")
		if seen[site] {
			p.failf(key, "site %q is there twice", site)
		}
		if site != "*" && strings.ContainsAny(site, meta) {
			p.failf(key, `site %q: in a table only "*" is a pattern`, site)
		}
		seen[site] = true
		rows = append(rows, tableRow{site: site, cells: n.Content[i+1]})
	}
	for i := range rows {
		if rows[i].site == "*" {
			delete(seen, "*")
			rows[i].except = append([]string{}, slices.Sorted(maps.Keys(seen))...)
		}
	}
	return rows
}

// cells returns the limits of one line of a table.
func (p *parser) cells(all Limit, row tableRow, metrics []string) (limits []Limit) {
	if row.cells.Kind != yaml.SequenceNode || len(row.cells.Content) != len(metrics) {
		p.failf(row.cells, "site %s has %s, want a list of %d numbers, one for each of metrics", row.site, kindOf(row.cells), len(metrics))
		return nil
	}
	for i, n := range row.cells.Content {
		l := all
		l.At, l.Metric, l.Site, l.Except = p.at(n), metrics[i], row.site, row.except
		l.Ranges = []Range{{Kind: Hard, Equal: p.quantity(n, Hard, l.Metric)}}
		l.Name = l.Place.String() + " " + l.Metric
		limits = append(limits, l)
	}
	return limits
}

// kindOf says what a node is.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "a mapping"
	case yaml.SequenceNode:
		return fmt.Sprintf("a list of %d", len(n.Content))
	case yaml.AliasNode:
		return fmt.Sprintf("the alias *%s", n.Value)
	}
	return map[string]string{
		"!!null": "nothing", "!!int": "the number " + n.Value, "!!float": "the number " + n.Value,
		"!!bool": "the truth value " + n.Value, "!!str": fmt.Sprintf("the text %q", n.Value),
	}[n.ShortTag()]
}
