package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/msgpath/msgpath/verdict"
)

// recordOf reads one state of the code out of one or more files.
func recordOf(names []string) (verdict.Record, error) {
	if len(names) == 0 {
		return verdict.Record{}, errors.New("give a RUN: a bench.json, bench.csv or bench.txt")
	}
	var records []verdict.Record
	var errs []error
	for _, name := range names {
		record, err := recordIn(name)
		records, errs = append(records, record), append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return verdict.Record{}, err
	}
	return verdict.Merge(records...)
}

// recordIn reads one file, of a folder its bench.json.
func recordIn(name string) (verdict.Record, error) {
	name = inFolder(name)
	f, err := os.Open(name)
	if err != nil {
		return verdict.Record{}, err
	}
	defer f.Close()
	return verdict.ReadRecord(name, f)
}

// inFolder returns the name of the bench.json in a folder, and any other name as
// it is.
func inFolder(name string) string {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return filepath.Join(name, "bench.json")
	}
	return name
}

// readResult reads a bench.json, or that of a folder.
func readResult(name string) (verdict.Result, error) {
	name = inFolder(name)
	f, err := os.Open(name)
	if err != nil {
		return verdict.Result{}, err
	}
	defer f.Close()
	result, err := verdict.ReadJSON(f)
	if err != nil {
		return verdict.Result{}, fmt.Errorf("%s: %w", name, err)
	}
	return result, nil
}

// unusable ends a command whose file cannot be used: one that is well-formed
// and says what cannot be is an invalid run, any other is wrong usage.
func (o *output) unusable(err error) error {
	if !errors.Is(err, verdict.ErrInvalid) {
		return err
	}
	fmt.Fprintln(o.stderr, "msgpath:", err)
	o.code = verdict.ExitInvalid
	return nil
}

// claimFolder makes an output folder and sees, before anything is measured, that
// files can be made in it and that none of those that will be has the name of a
// folder.
func claimFolder(name string, files ...string) error {
	if err := os.MkdirAll(name, 0o755); err != nil {
		return err
	}
	for _, file := range files {
		if err := refuseFolder(filepath.Join(name, file)); err != nil {
			return err
		}
	}
	return tryFile(name, "bench.*")
}

// claimFile makes the folder of a file and sees that the file can be written, before
// anything is measured.
func claimFile(name string) error {
	if name == "" {
		return errors.New("want the name of a file")
	}
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if err := refuseFolder(name); err != nil {
		return err
	}
	return tryFile(dir, filepath.Base(name)+".*")
}

// refuseFolder is an error if a folder is where a file will be.
func refuseFolder(name string) error {
	if info, err := os.Lstat(name); err == nil && info.IsDir() {
		return fmt.Errorf("%s is a folder, want a file", name)
	}
	return nil
}

// tryFile makes a file in a folder and removes it.
func tryFile(dir, pattern string) error {
	f, err := os.CreateTemp(dir, pattern)
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// replaceFile writes a file beside name and renames it, so that a reader never
// sees half of it.
func replaceFile(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
