package provezero

import (
	"encoding/json"
	"errors"
	"io"
	"testing"

	"github.com/msgpath/msgpath/verdict"
)

func TestSummarize(t *testing.T) {
	var ratios []float64
	for i := range 21 {
		ratios = append(ratios, 1+float64((i*8)%21)/100) // 1.00 to 1.20 in another order
	}
	r, err := summarize(ratios)
	if err != nil {
		t.Fatal(err)
	}
	// Of 21 values the interval of the median runs from the 6th to the 16th:
	// P(6 <= B(21, 1/2) <= 15) = 0.973, and one less on either side 0.949.
	if r != (ratio{1.10, 1.05, 1.15, 21}) {
		t.Errorf("summarize = %+v, want 1.10 from 1.05 to 1.15", r)
	}
	if _, err := summarize(ratios[:MinPairs-1]); !errors.Is(err, ErrNothing) {
		t.Errorf("too few pairs: %v", err)
	}
}

func TestNanosPerMessage(t *testing.T) {
	good := func() verdict.Result {
		return verdict.Result{
			Kind: verdict.Kind, SchemaVersion: verdict.SchemaVersion,
			Runs: []verdict.Run{{Messages: 1000, CPUNanos: 250_000, Verified: true}},
		}
	}
	for _, tt := range []struct {
		name   string
		change func(*verdict.Result)
		want   float64 // 0: invalid
	}{
		{"good", func(*verdict.Result) {}, 250},
		{"kind", func(r *verdict.Result) { r.Kind = "other" }, 0},
		{"no run", func(r *verdict.Result) { r.Runs = nil }, 0},
		{"median of three", func(r *verdict.Result) {
			slow, slower := r.Runs[0], r.Runs[0]
			slow.CPUNanos, slower.CPUNanos = 400_000, 900_000
			r.Runs = append(r.Runs, slower, slow)
		}, 400},
		{"one of two not verified", func(r *verdict.Result) {
			r.Runs = append(r.Runs, r.Runs[0])
			r.Runs[1].Verified = false
		}, 0},
		{"an invalid run", func(r *verdict.Result) { r.Invalid = []verdict.Invalid{{Reason: "lost"}} }, 0},
		{"not verified", func(r *verdict.Result) { r.Runs[0].Verified = false }, 0},
		{"no message", func(r *verdict.Result) { r.Runs[0].Messages = 0 }, 0},
		{"no time", func(r *verdict.Result) { r.Runs[0].CPUNanos = 0 }, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			result := good()
			tt.change(&result)
			data, err := json.Marshal(result)
			if err != nil {
				t.Fatal(err)
			}
			got, err := nanosPerMessage(data)
			if got != tt.want || (tt.want == 0) != errors.Is(err, ErrInvalid) {
				t.Errorf("nanosPerMessage = %v, %v; want %v", got, err, tt.want)
			}
		})
	}
	if _, err := nanosPerMessage([]byte("panic")); !errors.Is(err, ErrInvalid) {
		t.Errorf("no JSON: %v", err)
	}
}

func TestMeasureRefuses(t *testing.T) {
	if err := Measure(t.Context(), Overhead{Pairs: 3}, io.Discard, io.Discard); ExitCode(err) != exitUsage {
		t.Errorf("3 pairs: %v, exit code %d, want %d", err, ExitCode(err), exitUsage)
	}
}
