package main

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"

	"github.com/msgpath/msgpath/verdict/study"
)

// studyFlags are those of every command that makes a study.
type studyFlags struct {
	Out string `default:"out" help:"Folder for the results, as JSON and as a Markdown page."`
}

// claim sees that the files of a study called name can be written.
func (f studyFlags) claim(name string) error {
	if err := claimFolder(f.Out, name+".json", name+".md"); err != nil {
		return fmt.Errorf("--out %s: %w", f.Out, err)
	}
	return nil
}

// finish writes the files of s, each whole or not at all, and prints its text.
func (f studyFlags) finish(w io.Writer, s study.Study) error {
	for _, file := range []struct {
		suffix string
		write  func(io.Writer, study.Study) error
	}{{".json", study.WriteJSON}, {".md", study.WriteMarkdown}} {
		var text bytes.Buffer
		if err := file.write(&text, s); err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(f.Out, s.Name+file.suffix), text.Bytes()); err != nil {
			return fmt.Errorf("write results: %w", err)
		}
	}
	if err := study.WriteText(w, s); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "\nResults are in %s: %s.json, %[2]s.md\n", f.Out, s.Name)
	return err
}
