package diff_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/msgpath/msgpath/verdict"
	"github.com/msgpath/msgpath/verdict/diff"
)

// A benchmark of any project that reports its decodes, before and after a change.
func Example() {
	before, err := verdict.ReadRecord("before.txt", strings.NewReader("BenchmarkRelay-8 1000 52000 ns/op 2 decodes/op\n"))
	if err != nil {
		fmt.Println(err)
	}
	after, err := verdict.ReadRecord("after.txt", strings.NewReader("BenchmarkRelay-8 1000 61000 ns/op 3 decodes/op\n"))
	if err != nil {
		fmt.Println(err)
	}
	c := diff.Compare(before, after, diff.Options{})
	if err := diff.WriteText(os.Stdout, c); err != nil {
		fmt.Println(err)
	}
	fmt.Println("exit", diff.ExitCode(c))
	// Output:
	// Verdict: WORSE, exit code 1: 0 of 1 counts are equal
	// WORSE: Relay +1.000 decode/op
	//
	// Correctness
	//   The files of neither side say whether messages arrived, once and unaltered.
	//
	// What a message costs, where most changed: counts are exact, memory is as measured
	//                Relay
	//               BEFORE  AFTER    delta
	//   decodes/op   2.000  3.000  +50.0 %
	//
	// Time: median [95 % interval], advisory: no exit code
	//                   BEFORE     AFTER    delta  floor  verdict
	//   Relay  ns/op  52.00 µs  61.00 µs  +17.3 %    n/a  insufficient
	//   insufficient: 1+1 samples cannot decide among 1 comparisons; 5+5 could
	//
	// Geometric mean over what both sides have
	//   decodes/op +50.0 % over 1
	//   ns/op +17.3 % over 1
	// exit 1
}
