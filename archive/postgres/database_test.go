package postgres_test

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/msgpath/msgpath/archive"
	"github.com/msgpath/msgpath/archive/archivetest"
	"github.com/msgpath/msgpath/archive/postgres"
	"github.com/msgpath/msgpath/internal/postgrestest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(postgrestest.Main(m)) }

// open opens the database at url until t ends.
func open(t testing.TB, url string) *postgres.Database {
	t.Helper()
	return openWith(t, postgres.Options{}, url)
}

func openWith(t testing.TB, o postgres.Options, url string) *postgres.Database {
	t.Helper()
	d, err := o.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func TestDatabase(t *testing.T) {
	archivetest.Exercise(t, func(t *testing.T) archive.Backend { return open(t, postgrestest.Database(t)) })
}
