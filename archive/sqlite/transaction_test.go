package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
)

// A row that SQLite refuses in the middle of a batch takes the batch with it.
func TestRefusedRowStoresNoneOfItsBatch(t *testing.T) {
	d, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	if _, err := d.writer.ExecContext(t.Context(), `CREATE TRIGGER refuse BEFORE INSERT ON messages
		WHEN NEW.timestamp = 3 BEGIN SELECT RAISE(ABORT, 'three is refused'); END`); err != nil {
		t.Fatal(err)
	}
	var rows []archive.Row
	for i := range 6 {
		rows = append(rows, archivetest.Numbered(uint64(i), int64(i), 8))
	}
	_, err = d.Insert(t.Context(), rows)
	if err == nil || !strings.Contains(err.Error(), "three is refused") ||
		!strings.Contains(err.Error(), rows[3].Key.Hash.String()) {
		t.Fatalf("got error %v, want SQLite's and the row's hash", err)
	}
	for _, row := range rows {
		if _, err := archive.Get(t.Context(), d, row.Key.Hash); !errors.Is(err, archive.ErrNotFound) {
			t.Fatalf("row %d of a refused batch: %v", row.Key.Timestamp, err)
		}
	}
	if fresh, err := d.Insert(t.Context(), rows[:3]); err != nil || !fresh[0] {
		t.Fatalf("insert afterwards: %v, %v", fresh, err)
	}
}

// Transactions that read first and write then, of two handles at the same time:
// SQLite refuses that at once, whatever the busy timeout, unless they ask for
// the write lock when they begin (mattn/go-sqlite3#274).
func TestReadThenWriteIsNotRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "archive.db")
	var wait sync.WaitGroup
	for h := range 2 {
		d, err := Open(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = d.Close() }()
		wait.Go(func() {
			for range 50 {
				if err := readThenWrite(t.Context(), d); err != nil {
					t.Errorf("handle %d: %v", h, err)
					return
				}
			}
		})
	}
	wait.Wait()
}

func readThenWrite(ctx context.Context, d *Database) error {
	tx, err := d.writer.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var n int
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM messages").Scan(&n); err != nil {
		return err
	}
	hash := fmt.Appendf(nil, "%032d", n)
	if _, err := tx.ExecContext(ctx, insertSQL, n, hash, "", "", 1, nil, nil, nil, nil, []byte{}, nil, nil, nil, nil); err != nil {
		return err
	}
	return tx.Commit()
}
