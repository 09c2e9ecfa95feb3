package gate

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"unicode/utf8"
)

// edit replaces one scalar of a file.
type edit struct {
	at       Position
	old, new string
}

// replace returns a text with its edits, and every other byte as it was. A
// scalar that does not stand in the text as it is meant, as one with an escape,
// is an error.
func replace(data []byte, edits []edit) ([]byte, error) {
	offsets := make([]int, len(edits))
	for i, e := range edits {
		offset := offsetOf(data, e.at)
		if offset < len(data) && (data[offset] == '"' || data[offset] == '\'') {
			offset++
		}
		if !bytes.HasPrefix(data[offset:], []byte(e.old)) {
			return nil, fmt.Errorf("%s: cannot replace %q where it is written in another form", e.at, e.old)
		}
		offsets[i] = offset
	}
	order := make([]int, len(edits))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(offsets[a], offsets[b]) })
	var out bytes.Buffer
	last := 0
	for _, i := range order {
		out.Write(data[last:offsets[i]])
		out.WriteString(edits[i].new)
		last = offsets[i] + len(edits[i].old)
	}
	out.Write(data[last:])
	return out.Bytes(), nil
}

// offsetOf returns where a position is, in bytes; the end of the text if it is
// behind that.
func offsetOf(data []byte, at Position) int {
	offset := 0
	for line := 1; line < at.Line; line++ {
		i := bytes.IndexByte(data[offset:], '\n')
		if i < 0 {
			return len(data)
		}
		offset += i + 1
	}
	for column := 1; column < at.Column && offset < len(data); column++ {
		_, size := utf8.DecodeRune(data[offset:])
		offset += size
	}
	return offset
}

// sameBut returns an error unless a budget is another one but for the edits:
// those were made where they were meant, and nowhere else.
func sameBut(before, after Budget, edits []edit) error {
	texts := make(map[Position]string, len(edits))
	for _, e := range edits {
		texts[e.at] = e.new
	}
	old := placeless(before, func(q Quantity) string { return cmp.Or(texts[q.At], q.text) })
	now := placeless(after, func(q Quantity) string { return q.text })
	if len(old) != len(now) {
		return fmt.Errorf("%d limits would become %d", len(old), len(now))
	}
	for i := range old {
		if !reflect.DeepEqual(old[i], now[i]) {
			return fmt.Errorf("%s: the rewritten file would not say what is meant here", before.Limits[i].At)
		}
	}
	return nil
}

// placeless returns the limits of a budget without positions and values, their
// bounds as text.
func placeless(b Budget, text func(Quantity) string) []Limit {
	limits := slices.Clone(b.Limits)
	for i := range limits {
		limits[i].At, limits[i].Table = Position{}, Position{}
		limits[i].Ranges = slices.Clone(limits[i].Ranges)
		for j := range limits[i].Ranges {
			r := &limits[i].Ranges[j]
			for _, q := range []**Quantity{&r.Equal, &r.Min, &r.Max} {
				if *q != nil {
					*q = &Quantity{text: text(**q)}
				}
			}
		}
	}
	return limits
}
