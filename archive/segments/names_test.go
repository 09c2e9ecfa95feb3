package segments

import (
	"errors"
	"io/fs"
	"path/filepath"
	"testing"
)

// names returns a folder, and counts how often it is synchronised; refuse says
// what that comes to.
func names(t *testing.T, path string, refuse *error) (d *Dir, folder *int) {
	t.Helper()
	d, folder = New(path), new(int)
	d.sync = func(name string) error {
		if name == path {
			*folder++
			return *refuse
		}
		return SyncFile(name)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d, folder
}

func mustAppend(t *testing.T, d *Dir, segment int64) {
	t.Helper()
	if err := d.Append(Place{Segment: segment}, []byte{1}); err != nil {
		t.Fatal(err)
	}
}

// The name of each segment is brought to the disk once, whoever gave it, and again
// where that failed.
func TestNamesAreSynchronised(t *testing.T) {
	path := filepath.Join(t.TempDir(), "payloads")
	var refuse error
	first, _ := names(t, path, &refuse)
	mustAppend(t, first, 1)
	other, folder := names(t, path, &refuse) // it appends nothing: a crash came, or another process did
	for _, step := range []struct {
		segment int64
		refuse  error
		want    int
	}{
		{1, fs.ErrInvalid, 1},
		{1, fs.ErrInvalid, 2},
		{1, nil, 3},
		{1, nil, 3},
		{2, nil, 4},
		{1, nil, 4},
		{2, nil, 4},
	} {
		mustAppend(t, first, step.segment)
		refuse = step.refuse
		if err := other.Sync(step.segment); !errors.Is(err, step.refuse) || *folder != step.want {
			t.Fatalf("sync of segment %d: %v, and %d of the folder, want %v and %d", step.segment, err, *folder, step.refuse, step.want)
		}
	}
}

// Nobody is told that names are on the disk while somebody else still brings them
// there, and perhaps cannot.
func TestNamesAreWaitedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "payloads")
	begun, refused := make(chan bool), make(chan error)
	d := New(path)
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	mustAppend(t, d, 1)
	d.sync = func(name string) error {
		if name != path {
			return nil
		}
		begun <- true
		return <-refused
	}
	results := make(chan error, 2)
	for range 2 {
		go func() { results <- d.Sync(1) }()
	}
	for range 2 { // each tries for itself: the first did not bring them there
		<-begun
		if len(results) == 2 {
			t.Fatal("both have ended")
		}
		refused <- fs.ErrInvalid
		if err := <-results; !errors.Is(err, fs.ErrInvalid) {
			t.Fatalf("got %v, want %v", err, fs.ErrInvalid)
		}
	}
}

// The folder's own name is on the disk before the first append: so one that is
// missing was not taken by a loss of power.
func TestFolderIsNamedAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "payloads")
	d := New(path)
	synced := ""
	d.sync = func(name string) error { synced = name; return fs.ErrInvalid }
	if err := d.Append(Place{Segment: 1}, []byte{1}); !errors.Is(err, fs.ErrInvalid) || synced != filepath.Dir(path) {
		t.Fatalf("append: %v, after %q was synchronised", err, synced)
	}
}

func TestCheck(t *testing.T) {
	d := New(filepath.Join(t.TempDir(), "payloads"))
	defer func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}()
	for _, segment := range []int64{0, 1} {
		if err := d.Check(segment); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("check of %d without a folder: %v", segment, err)
		}
	}
	mustAppend(t, d, 1)
	for segment, want := range []error{nil, nil, fs.ErrNotExist} {
		if err := d.Check(int64(segment)); !errors.Is(err, want) {
			t.Errorf("check of %d: %v, want %v", segment, err, want)
		}
	}
}
