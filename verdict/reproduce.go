package verdict

import (
	"fmt"
	"path"
	"strings"
)

// Reproduce returns the lines to paste into a POSIX shell to measure r again: a
// checkout of its commit, the build with its tags, and its command. What stands
// in the way, and the workload, are comments. The folder of the program is left
// out: it is of the machine that ran it.
func Reproduce(r Result) []string {
	build := []string{"go", "build"}
	if len(r.Environment.Tags) > 0 {
		build = append(build, "-tags", strings.Join(r.Environment.Tags, ","))
	}
	build = append(build, "-o", "bin/", "./cmd/...")

	again := "# the command line is not known"
	if words := r.Environment.CommandLine; len(words) > 0 {
		again = ShellLine(append([]string{"bin/" + path.Base(words[0])}, words[1:]...))
	}
	s := r.Settings
	workload := fmt.Sprintf("# seed %d, %d messages of %s, %d runs", s.Seed, s.Messages, s.Profile, s.Runs)
	return append(checkout(r.Environment.Commit), ShellLine(build), again, oneLine(workload))
}

// checkout returns the lines that bring back a commit.
func checkout(commit string) []string {
	clean := strings.TrimSuffix(strings.TrimSuffix(commit, "+dirty"), "-dirty")
	switch {
	case clean == "" || clean == "unknown":
		return []string{"# the build did not record its commit: use a checkout of the same sources"}
	case dirty(commit):
		return []string{
			"# the checkout had changes that are in no commit: this one comes closest",
			ShellLine([]string{"git", "checkout", clean}),
		}
	}
	return []string{ShellLine([]string{"git", "checkout", clean})}
}

// oneLine keeps a name with a line break from ending a comment.
func oneLine(s string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(s) }

// ShellLine returns a command as it is typed into a POSIX shell: words that it
// would change are quoted. A word with a line break gives several lines.
func ShellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = shellWord(word)
	}
	return strings.Join(quoted, " ")
}

const shellPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789@%+=:,./_-"

// shellWord returns a word as it is typed: quoted if a shell would change it.
func shellWord(word string) string {
	if word != "" && strings.Trim(word, shellPlain) == "" {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
