package sqlite

import (
	"database/sql/driver"
	"errors"
	"path/filepath"
	"testing"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/segments"
)

// A connection that database/sql gives up takes its statements along, and inserts
// go on with another.
func TestInsertsOnANewConnection(t *testing.T) {
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "archive.db"))
	if err != nil {
		t.Fatal(err)
	}
	insert := func(n uint64) {
		t.Helper()
		if _, err := d.Insert(t.Context(), []archive.Row{archivetest.Numbered(n, 0, 5000)}); err != nil {
			t.Fatal(err)
		}
	}
	insert(1)
	before := d.direct.conn
	conn, err := d.writer.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Raw(func(any) error { return driver.ErrBadConn }); !errors.Is(err, driver.ErrBadConn) {
		t.Fatal(err)
	}
	_ = conn.Close() // it is closed
	insert(2)
	if d.direct.conn == before {
		t.Error("the connection stayed")
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
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

// A panic while a batch is written reaches the caller, and leaves nothing locked.
func TestPanicInInsert(t *testing.T) {
	d, err := Open(t.Context(), Memory)
	if err != nil {
		t.Fatal(err)
	}
	d.payloads = nil // so it panics
	func() {
		defer func() {
			if recover() == nil {
				t.Error("no panic")
			}
		}()
		_, _ = d.Insert(t.Context(), []archive.Row{archivetest.Numbered(1, 0, 5000)})
	}()
	d.payloads = segments.NewMemory()
	if err := d.Close(); err != nil {
		t.Error(err)
	}
}
