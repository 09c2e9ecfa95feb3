package sqlite

import (
	"database/sql/driver"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/msgpath/msgpath/archive"
)

// A connection that database/sql gives up takes its statements along, and inserts
// go on with another.
func TestInsertsOnANewConnection(t *testing.T) {
	d := openFile(t, Options{inline: 1}, filepath.Join(t.TempDir(), "archive.db"))
	rows := placed(2)
	mustInsert(t, d, rows[:1])
	before := d.direct.conn
	conn, err := d.writer.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) {
		t.Fatal(err)
	}
	_ = conn.Close() // it is closed
	mustInsert(t, d, rows[1:])
	if d.direct.conn == before {
		t.Error("the connection stayed")
	}
}

func TestDirectRefusesOtherDrivers(t *testing.T) {
	var d direct
	if _, err := d.begin("no connection"); err == nil {
		t.Error("a string begins a transaction")
	}
	if err := d.close(); err != nil {
		t.Error(err)
	}
}

// A panic while a batch is written reaches the caller. It leaves what was there and
// no lock.
func TestPanicInInsert(t *testing.T) {
	for _, name := range []string{Memory, filepath.Join(t.TempDir(), "archive.db")} {
		d := openFile(t, Options{inline: 1}, name)
		rows := placed(3)
		mustInsert(t, d, rows[:1])
		whole := d.payloads
		d.payloads = nil // so it panics
		func() {
			defer func() {
				if v := recover(); v == nil || !strings.Contains(fmt.Sprint(v), "nil pointer") {
					t.Errorf("%s: panic: %v", name, v)
				}
			}()
			_, _ = d.Insert(t.Context(), rows[1:2])
		}()
		d.payloads = whole
		if name != Memory {
			if err := lock(t, name); err != nil {
				t.Errorf("another process: %v", err)
			}
		}
		if _, err := archive.Get(t.Context(), d, rows[1].Key.Hash); !errors.Is(err, archive.ErrNotFound) {
			t.Errorf("%s: the row of the panic: %v", name, err)
		}
		mustInsert(t, d, rows[1:])
		requireGets(t, d, rows)
	}
}
