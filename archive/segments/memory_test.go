package segments_test

import (
	"errors"
	"testing"
	"unsafe"

	"github.com/msgpath/msgpath/archive/segments"
)

func TestMemory(t *testing.T) {
	m := segments.NewMemory()
	first, second, tail := []byte("first"), []byte("the second"), []byte("other")
	if err := m.Append(segments.Place{Segment: 1}, tail); err != nil { // of a batch that was not committed
		t.Fatal(err)
	}
	if err := m.Append(segments.Place{Segment: 1}, first, second); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		at      segments.Place
		payload []byte // nil: there is none
	}{
		{segments.Place{Segment: 1, Length: 5}, first},
		{segments.Place{Segment: 1, Offset: 5, Length: 10}, second},
		{segments.Place{Segment: 1, Offset: 5, Length: 9}, nil},
		{segments.Place{Segment: 1, Offset: 4, Length: 10}, nil},
		{segments.Place{Segment: 2, Length: 5}, nil},
		{segments.Place{Segment: 1, Offset: 15}, nil},
	} {
		got, err := m.Read(want.at)
		if want.payload == nil {
			if !errors.Is(err, segments.ErrDamaged) {
				t.Errorf("%+v: %q, %v", want.at, got, err)
			}
		} else if err != nil || unsafe.SliceData(got) != unsafe.SliceData(want.payload) || len(got) != len(want.payload) {
			t.Errorf("%+v: %q, %v, want %q itself", want.at, got, err, want.payload)
		}
	}
	m.Forget(segments.Place{Segment: 1}, segments.Place{Segment: 1, Offset: 7}, segments.Place{Segment: 3})
	if got, err := m.Read(segments.Place{Segment: 1, Length: 5}); !errors.Is(err, segments.ErrDamaged) {
		t.Errorf("forgotten: %q, %v", got, err)
	}
	if got, err := m.Read(segments.Place{Segment: 1, Offset: 5, Length: 10}); err != nil || string(got) != string(second) {
		t.Errorf("beside it: %q, %v", got, err)
	}
	m.Forget(segments.Place{Segment: 1, Offset: 5})
	if err := m.Append(segments.Place{Segment: 1, Offset: 15}, first); err != nil {
		t.Error(err)
	}
	if err := errors.Join(m.Close(), m.Close()); err != nil {
		t.Error(err)
	}
	if _, err := m.Read(segments.Place{Segment: 1, Length: 5}); !errors.Is(err, segments.ErrDamaged) {
		t.Errorf("after Close: %v", err)
	}
	if err := m.Append(segments.Place{Segment: 1}, first); err == nil {
		t.Error("append after Close")
	}
}
