package verdict

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReproduce(t *testing.T) {
	const closest = "# the checkout had changes that are in no commit: this one comes closest"
	const workload = "# seed 42, 1000 messages of 10/50/150kB@25/50/25, 2 runs"
	for name, tt := range map[string]struct {
		change func(*Result)
		want   []string
	}{
		"a commit": {
			func(r *Result) {
				r.Environment.Commit, r.Environment.Tags = "0123abc", []string{"msgpathcounters", "race"}
				r.Environment.CommandLine = []string{"/somewhere/msgpath", "bench", "all", "--out", "it's here"}
			},
			[]string{"git checkout 0123abc", "go build -tags msgpathcounters,race -o bin/ ./cmd/...", `bin/msgpath bench all --out 'it'\''s here'`, workload},
		},
		"uncommitted changes": {
			func(r *Result) { r.Environment.Commit, r.Environment.Tags = "0123abc+dirty", nil },
			[]string{closest, "git checkout 0123abc", "go build -o bin/ ./cmd/...", "bin/msgpath bench all", workload},
		},
		"uncommitted changes, as git describes them": {
			func(r *Result) { r.Environment.Commit, r.Environment.Tags = "v1-dirty", nil },
			[]string{closest, "git checkout v1", "go build -o bin/ ./cmd/...", "bin/msgpath bench all", workload},
		},
		"nothing known": {
			func(r *Result) {
				r.Environment.Commit, r.Environment.Tags, r.Environment.CommandLine = "unknown", nil, nil
			},
			[]string{
				"# the build did not record its commit: use a checkout of the same sources",
				"go build -o bin/ ./cmd/...", "# the command line is not known", workload,
			},
		},
		"a workload with a line break": {
			func(r *Result) { r.Environment.Commit, r.Environment.Tags, r.Settings.Profile = "0", nil, "1kB\nrm x" },
			[]string{"git checkout 0", "go build -o bin/ ./cmd/...", "bin/msgpath bench all", "# seed 42, 1000 messages of 1kB rm x, 2 runs"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := fixture()
			r.Environment.CommandLine = []string{"msgpath", "bench", "all"}
			tt.change(&r)
			if diff := cmp.Diff(tt.want, Reproduce(r)); diff != "" {
				t.Errorf("lines differ (-want +got):\n%s", diff)
			}
		})
	}
}

// A shell reads back every word.
func TestShellLine(t *testing.T) {
	got := ShellLine([]string{"msgpath", "--profile=10/50/150kB@25/50/25", "", "a b", "$x", "it's"})
	if want := `msgpath --profile=10/50/150kB@25/50/25 '' 'a b' '$x' 'it'\''s'`; got != want {
		t.Errorf("ShellLine = %s, want %s", got, want)
	}
	words := []string{"", "plain", "a b", `'; rm -rf "$HOME" #`, "$(x)`y`", "a\nb", `\`, "*?~", "--out=a"}
	command := ShellLine(append([]string{"printf", "%s\\0"}, words...))
	out, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(words, strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")); diff != "" {
		t.Errorf("words differ (-want +got):\n%s", diff)
	}
}
