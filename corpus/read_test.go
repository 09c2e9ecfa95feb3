package corpus

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/internal/golden"
)

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		want := rapid.SliceOf(rapid.Custom(func(rt *rapid.T) Record {
			return Record{
				At:      time.Unix(0, rapid.Int64().Draw(rt, "arrival")),
				Topic:   rapid.String().Draw(rt, "topic"),
				Message: rapid.SliceOfN(rapid.Byte(), 0, 300).Draw(rt, "message"),
			}
		})).Draw(rt, "records")
		data := encoded(t, want...)
		size := int64(len(header) + endSize)
		for _, r := range want {
			size += r.size()
		}
		if size != int64(len(data)) {
			rt.Errorf("sizes add up to %d, the file has %d", size, len(data))
		}
		got, err := read(data)
		if err != nil || len(got) != len(want) {
			rt.Fatalf("read %d of %d records: %v", len(got), len(want), err)
		}
		for i := range want {
			if diff := cmp.Diff(want[i], got[i]); diff != "" {
				rt.Errorf("record %d: %s", i, diff)
			}
		}
	})
}

// TestFormat: files of this version stay as they are.
func TestFormat(t *testing.T) { golden.Equal(t, "testdata/few.corpus", encoded(t, few()...)) }

// TestTruncated cuts a file at every byte, also between records and before the end
// mark.
func TestTruncated(t *testing.T) {
	data := encoded(t, few()...)
	starts := []int64{int64(len(header))} // of records and of the end mark
	for i, r := range few() {
		starts = append(starts, starts[i]+r.size())
	}
	for n := range data {
		got, err := read(data[:n])
		if !errors.Is(err, errTruncated) {
			t.Fatalf("cut at %d: error %v, want that it is truncated", n, err)
		}
		where := "offset 0x0: header"
		if n >= len(header) {
			whole := 0
			for whole+1 < len(starts) && starts[whole+1] <= int64(n) {
				whole++
			}
			where = fmt.Sprintf("record %d at offset %#x:", whole+1, starts[whole])
			if len(got) != whole {
				t.Errorf("cut at %d: %d records, want %d", n, len(got), whole)
			}
		}
		if !strings.HasPrefix(err.Error(), "corpus: read FILE: "+where) {
			t.Errorf("cut at %d: error %q, want that it names %q", n, err, where)
		}
	}
	_, err := read(data[:len(data)-endSize-100])
	if want := "record 3 at offset 0x4c: truncated: want 159 bytes, have 63"; !strings.Contains(err.Error(), want) {
		t.Errorf("error %q, want %q", err, want)
	}
}

// TestDamaged changes every bit of a file.
func TestDamaged(t *testing.T) {
	data := encoded(t, few()...)
	for i := range data {
		for bit := range 8 {
			bad := bytes.Clone(data)
			bad[i] ^= 1 << bit
			if _, err := read(bad); err == nil || !strings.Contains(err.Error(), "at offset 0x") && i >= len(header) {
				t.Errorf("bit %d of byte %d changed: error %v, want one that names the offset", bit, i, err)
			}
		}
	}
}

// TestRecordsOutOfPlace: records that are whole each and do not follow each other
// are found.
func TestRecordsOutOfPlace(t *testing.T) {
	a, b := at(1, "first"), at(2, "other")
	data := encoded(t, a, b)
	begin, size := int64(len(header)), a.size()
	first, second, end := data[begin:begin+size], data[begin+size:begin+2*size], data[begin+2*size:]
	for _, tt := range []struct {
		name  string
		parts [][]byte
	}{
		{"missing", [][]byte{second, end}},
		{"swapped", [][]byte{second, first, end}},
		{"twice", [][]byte{first, first, second, end}},
		{"last missing", [][]byte{first, end}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := read(append([]byte(header), bytes.Join(tt.parts, nil)...)); err == nil || !strings.Contains(err.Error(), "damaged") {
				t.Errorf("error %v, want that it is damaged", err)
			}
		})
	}
}

func TestForeign(t *testing.T) {
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	if _, err := z.Write(encoded(t, few()...)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	whole := encoded(t, at(1, "x"))
	huge := append([]byte(header), 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01)
	for _, tt := range []struct {
		name string
		data []byte
		want string
	}{
		{"empty", nil, "offset 0x0: header: truncated: want 17 bytes, have 0"},
		{"text", []byte("hello"), `offset 0x0: not a corpus: it begins with "hello"`},
		{"gzip", zipped.Bytes(), `offset 0x0: not a corpus: it begins with "\x1f\x8b`},
		{"sqlite", []byte("SQLite format 3\x00 and more"), `not a corpus`},
		{"later version", []byte(magic + "2\n"), `offset 0x0: it has version "2": this program reads version "1"`},
		{"a length beyond the limit", huge, "record 1 at offset 0x11: damaged: its length is over 16777216 bytes"},
		{"an endless length", append([]byte(header), bytes.Repeat([]byte{0x80}, 20)...), "record 1 at offset 0x11: damaged"},
		{"more behind the end", append(whole, 'x'), "record 2 at offset 0x2e: it is the end mark, and more bytes follow at offset 0x33"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := read(tt.data); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
		})
	}
}

// TestMalformed: a body that no Writer writes is refused though its checksum is
// right.
func TestMalformed(t *testing.T) {
	for _, body := range []string{"short", "8 bytes.", "8 bytes.\x05abc", "8 bytes.\xff"} {
		var b bytes.Buffer
		e := encoder{w: &b}
		if err := errors.Join(e.begin(), e.write(append([]byte{byte(len(body))}, body...)), e.checksum(), e.end()); err != nil {
			t.Fatal(err)
		}
		if _, err := read(b.Bytes()); err == nil || !strings.Contains(err.Error(), "record 1 at offset 0x11: malformed") {
			t.Errorf("body %q: error %v, want that it is malformed", body, err)
		}
	}
}

func TestReadFails(t *testing.T) {
	failure := errors.New("disk is gone")
	data := encoded(t, few()...)
	for n := range len(data) {
		r := io.MultiReader(bytes.NewReader(data[:n]), iotest.ErrReader(failure))
		var err error
		for _, err = range Read(r, "FILE") {
		}
		if !errors.Is(err, failure) {
			t.Fatalf("after %d bytes: %v, want the reader's error", n, err)
		}
	}
}

func TestReadStops(t *testing.T) {
	n := 0
	for _, err := range Read(bytes.NewReader(encoded(t, few()...)), "FILE") {
		if err != nil {
			t.Fatal(err)
		}
		n++
		break
	}
	if n != 1 {
		t.Errorf("%d records after a break", n)
	}
}

// FuzzRead: what is read whole is what a Writer would have written.
func FuzzRead(f *testing.F) {
	f.Add(encoded(f, few()...))
	f.Add(encoded(f))
	f.Add([]byte(header + "\x00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, err := read(data)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "corpus: read FILE: ") || !strings.Contains(err.Error(), "offset 0x") {
				t.Errorf("error %q names no offset", err)
			}
			return
		}
		again, err := read(encoded(t, records...))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(records, again); diff != "" {
			t.Error(diff)
		}
	})
}
