package corpus

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// encoded returns a whole file of records.
func encoded(t testing.TB, records ...Record) []byte {
	t.Helper()
	var b bytes.Buffer
	e := encoder{w: &b}
	err := e.begin()
	for _, r := range records {
		if err == nil {
			err = e.record(r)
		}
	}
	if err == nil {
		err = e.end()
	}
	if err != nil {
		t.Fatal(err)
	}
	if e.size != int64(b.Len()) {
		t.Fatalf("encoder says %d bytes, wrote %d", e.size, b.Len())
	}
	return b.Bytes()
}

// read returns the records before the first error, and the error.
func read(data []byte) (records []Record, err error) {
	for r, err := range Read(bytes.NewReader(data), "FILE") {
		if err != nil {
			return records, err
		}
		records = append(records, r)
	}
	return records, nil
}

// at returns a record that arrived a number of ns after the epoch.
func at(ns int64, message string) Record {
	return Record{At: time.Unix(0, ns), Topic: "/waku/2/rs/0/0", Message: []byte(message)}
}

// few are records of some sizes, of which the length of one takes two bytes.
func few() []Record {
	return []Record{at(5, "one"), at(4, ""), {At: time.Unix(-1, 0), Message: []byte(strings.Repeat("x", 150))}}
}
