package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/msgpath/msgpath/bench"
)

// latencyFolder is where the histograms are, in the output folder.
const latencyFolder = "latency"

// claimHistograms sees that a folder for histograms can be made, and that those of
// an earlier result can be removed from it.
func claimHistograms(folder string) error {
	if info, err := os.Stat(folder); err == nil && !info.IsDir() {
		return fmt.Errorf("%s is a file, want a folder", folder)
	}
	stale, err := filepath.Glob(filepath.Join(folder, "*"+bench.HistogramSuffix))
	if err != nil {
		return err
	}
	for _, file := range stale {
		if err := refuseFolder(file); err != nil {
			return err
		}
	}
	return nil
}

// writeHistograms writes the latencies of an open loop into a folder of their own,
// from which those of an earlier result go, also where there are no new ones.
func writeHistograms(folder string, h *bench.Histograms) error {
	files, err := h.Files()
	if err != nil {
		return err
	}
	if err := removeHistograms(folder); err != nil {
		return fmt.Errorf("write latencies: %w", err)
	}
	if len(files) == 0 {
		return nil
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return fmt.Errorf("write latencies: %w", err)
	}
	for _, f := range files {
		if err := replaceFile(filepath.Join(folder, f.Name), f.Text); err != nil {
			return fmt.Errorf("write latencies: %w", err)
		}
	}
	return nil
}

// removeHistograms removes histograms from a folder, and the folder if nothing else
// is in it.
func removeHistograms(folder string) error {
	stale, err := filepath.Glob(filepath.Join(folder, "*"+bench.HistogramSuffix))
	if err != nil {
		return err
	}
	for _, file := range stale {
		if err := os.Remove(file); err != nil {
			return err
		}
	}
	_ = os.Remove(folder) // which fails where there is more, or no folder
	return nil
}
