package gate

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/verdict"
)

// Of any text in a comment: the bound that is meant is rewritten, or none is. The
// bounds stand below each other, and comments with the same number below them, so
// that a position in a wrong line is one of another bound or comment.
func TestRatchetComments(t *testing.T) {
	paths, measured := []string{"baseline", "envelope", "zerocopy"}, []float64{6, 3, 1}
	var run verdict.Record
	for i, path := range paths {
		run = record(run.Figures, figures(t, "macro "+path+" all", "decodes/msg", measured[i]))
	}
	piece := rapid.SampledFrom([]string{
		"9", " # 9", "é", "日本", "😀", "\u0301", "\t", "\u00a0", "\ufeff", "\r\n# ", "\n# ",
		"\r", "\u0085", "\u2028", "\u2029", "\f", "\v", "\x00", "\xff", "\r#", "\u0085#", "\u2028#", "\u2029#",
	})
	rapid.Check(t, func(rt *rapid.T) {
		mark := rapid.SampledFrom([]string{"", "\ufeff"}).Draw(rt, "byte order mark")
		name := rapid.SampledFrom([]string{"", "é", "日本", "😀", "\u0301", "\u00a0"}).Draw(rt, "name")
		comments := make([]string, len(paths)+1)
		for i := range comments {
			comments[i] = strings.Join(rapid.SliceOfN(piece, 0, 3).Draw(rt, "comment"), "")
		}
		text := func(max ...float64) string {
			all := mark + "# " + comments[0] + "\nversion: 1\nlimits:\n"
			for i, path := range paths {
				all += fmt.Sprintf("  - {name: 'n%s', metric: decodes/msg, path: %s, hard: {max: %g}} # %s\n", name, path, max[i], comments[i+1])
			}
			column := utf8.RuneCountInString("  - {name: 'n" + name + "', metric: decodes/msg, path: baseline, hard: {max: ")
			return all + strings.Repeat(strings.Repeat("#", column)+"9\n", 9)
		}
		got, err := Ratchet("b.yaml", []byte(text(9, 9, 9)), run, Options{})
		if err == nil && string(got.Text) != text(measured...) {
			rt.Fatalf("exit code %d, text %q", got.ExitCode(), got.Text)
		}
		plain := strings.ReplaceAll(strings.Join(comments, ""), "\r\n", "\n")
		if err != nil && utf8.ValidString(plain) && !strings.ContainsAny(plain, "\r\u0085\u2028\u2029\f\v\x00\ufeff") {
			rt.Fatalf("refused a text without a doubtful character: %v", err)
		}
	})
}

// An edit that lands anywhere but on its bound is seen.
func TestSameBut(t *testing.T) {
	const text = "version: 1\nlimits:\n  - {name: a 9, metric: decodes/msg, hard: {max: 9}}\n  - {metric: hashes/msg, soft: {min: 9, max: 9}}\n"
	before, err := Parse("b.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	replaced := func(pairs ...string) string { return strings.NewReplacer(pairs...).Replace(text) }
	meant := []edit{{before.Limits[0].Ranges[0].Max.At, "9", "6"}}
	for name, tt := range map[string]struct {
		after string
		same  bool
	}{
		"as meant":      {replaced("hard: {max: 9", "hard: {max: 6"), true},
		"nothing":       {text, false},
		"another limit": {replaced("min: 9", "min: 6"), false},
		"one more":      {replaced("hard: {max: 9", "hard: {max: 6", "min: 9", "min: 6"), false},
		"a name":        {replaced("hard: {max: 9", "hard: {max: 6", "a 9", "a 6"), false},
		"another kind":  {replaced("hard: {max: 9", "hard: {max: 6", "soft", "change"), false},
		"a limit less":  {"version: 1\nlimits:\n  - {name: a 9, metric: decodes/msg, hard: {max: 6}}\n", false},
	} {
		after, err := Parse("b.yaml", []byte(tt.after))
		if err != nil {
			t.Fatal(err)
		}
		if err := sameBut(before, after, meant); (err == nil) != tt.same {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
