package bench

import (
	"errors"
	"fmt"
	"os"

	"github.com/msgpath/msgpath/archive/sqlite"
	"github.com/msgpath/msgpath/node"
)

// databaseFiles are what is kept beside each other for one database: SQLite's
// files and the folder of the payloads.
var databaseFiles = []string{"", "-wal", "-shm", "-journal", sqlite.PayloadDir("")}

// claimArchive makes sure that the archive's files are the run's own: none may
// exist, and all are removed by the returned function.
func claimArchive(name string) (clean func() error, err error) {
	file := ""
	if name != Discard {
		file, err = node.ArchiveFile(name)
	}
	if file == "" || err != nil {
		return func() error { return nil }, err
	}
	for _, suffix := range databaseFiles {
		if _, err := os.Lstat(file + suffix); err == nil {
			return nil, fmt.Errorf("bench: archive file %s exists: each run makes it anew and removes it, name another", file+suffix)
		}
	}
	return func() error {
		var errs []error
		for _, suffix := range databaseFiles {
			errs = append(errs, os.RemoveAll(file+suffix))
		}
		return errors.Join(errs...)
	}, nil
}
