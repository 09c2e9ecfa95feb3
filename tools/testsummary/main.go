// Command testsummary reads what go test -json prints on stdin. It prints one
// line for each package, the output of what failed, and as its last line how
// many tests and subtests passed, failed and were skipped.
//
//	go test -json ./... | testsummary [-o FILE]
//
// With -o it writes the last line to FILE too. It exits 1 if anything failed and
// 4 if no test ran.
package main

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

// event is one line of go test -json (see go doc test2json), as far as it is
// used here. Build output has an import path and no package.
type event struct {
	Action      string
	Package     string
	Test        string
	Output      string
	ImportPath  string
	FailedBuild string
}

// A summary counts tests, and holds the output of those that still run.
type summary struct {
	passed, failed, skipped int
	failedPackages          int
	output                  map[[2]string]*strings.Builder
	w                       io.Writer
}

func main() {
	file := flag.String("o", "", "file for the last line")
	flag.Parse()
	os.Exit(run(os.Stdin, os.Stdout, os.Stderr, *file))
}

func run(stdin io.Reader, stdout, stderr io.Writer, file string) int {
	s := summary{output: make(map[[2]string]*strings.Builder), w: stdout}
	lines := bufio.NewReader(stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			s.line(line)
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			fmt.Fprintf(stderr, "testsummary: read: %v\n", err)
			return 1
		}
	}
	fmt.Fprintln(stdout, &s)
	if file != "" {
		if err := os.WriteFile(file, []byte(s.String()+"\n"), 0o644); err != nil {
			fmt.Fprintf(stderr, "testsummary: write: %v\n", err)
			return 1
		}
	}
	return s.exitStatus()
}

// line takes one line; what is no event is passed on.
func (s *summary) line(line []byte) {
	var e event
	if json.Unmarshal(line, &e) != nil || e.Action == "" {
		fmt.Fprintf(s.w, "%s", line)
		return
	}
	switch e.Action {
	case "build-output":
		fmt.Fprint(s.w, e.Output)
	case "output":
		s.buffer(e).WriteString(e.Output)
	case "pass", "fail", "skip":
		s.end(e)
	}
}

func (s *summary) buffer(e event) *strings.Builder {
	key := [2]string{e.Package, e.Test}
	if s.output[key] == nil {
		s.output[key] = new(strings.Builder)
	}
	return s.output[key]
}

// end counts a test or package that has ended, and prints what it said: all of
// it if it failed, of a package that passed the closing line.
func (s *summary) end(e event) {
	text := s.buffer(e).String()
	delete(s.output, [2]string{e.Package, e.Test})
	switch {
	case e.Test == "" && e.Action == "fail":
		s.failedPackages++
		fmt.Fprint(s.w, text)
	case e.Test == "":
		fmt.Fprint(s.w, closing(text))
	case e.Action == "fail":
		s.failed++
		fmt.Fprint(s.w, text)
	case e.Action == "skip":
		s.skipped++
	default:
		s.passed++
	}
}

func closing(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "ok ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func (s *summary) String() string {
	text := fmt.Sprintf("%d passed, %d failed, %d skipped", s.passed, s.failed, s.skipped)
	if s.failedPackages > 0 {
		text += fmt.Sprintf(" (%d packages failed)", s.failedPackages)
	}
	return text
}

func (s *summary) exitStatus() int {
	switch {
	case s.failed > 0 || s.failedPackages > 0:
		return 1
	case s.passed == 0:
		return 4
	}
	return 0
}
