package main

import (
	"math"
	"testing"
)

func TestParseGOGC(t *testing.T) {
	for text, want := range map[string]int{"off": -1, "1": 1, "100": 100, "400": 400} {
		if got, err := parseGOGC(text); got != want || err != nil {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "1.5", "100%", "99999999999"} {
		if got, err := parseGOGC(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}

func TestParseMemoryLimit(t *testing.T) {
	for text, want := range map[string]int64{
		"off": math.MaxInt64, "1": 1, "7B": 7, "3KiB": 3 << 10, "512MiB": 512 << 20, "2GiB": 2 << 30, "1TiB": 1 << 40,
	} {
		if got, err := parseMemoryLimit(text); got != want || err != nil {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", "0", "-1", "1MB", "1 GiB", "GiB", "1.5GiB", "9999999999TiB", "none"} {
		if got, err := parseMemoryLimit(text); err == nil {
			t.Errorf("%q is %d", text, got)
		}
	}
}
