package postgres

import (
	"errors"
	"testing"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/msgpath/msgpath/archive"
)

// A database of the schema before its size was kept opens with the size it has.
func TestDatabaseWithoutItsSize(t *testing.T) {
	d := filled(t, 5)
	want := archive.Size{Messages: 5}
	if err := d.writer.QueryRow(t.Context(), "SELECT sum(size)::bigint FROM messages").Scan(&want.Bytes); err != nil {
		t.Fatal(err)
	}
	db := stdlib.OpenDB(*d.writer.Config().ConnConfig)
	p, err := provider(db)
	if err != nil {
		t.Fatal(err)
	}
	_, err = p.DownTo(t.Context(), 1)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Size(t.Context()); err == nil {
		t.Errorf("size %+v of the earlier schema, want an error", got)
	}
	again, err := Open(t.Context(), d.writer.Config().ConnString())
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got, err := again.Size(t.Context()); err != nil || got != want {
		t.Errorf("size %+v, %v, want %+v", got, err, want)
	}
}
