package p2p

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/msgpath/msgpath/message"
)

func TestTerms(t *testing.T) {
	for _, want := range []terms{
		wide(),
		{version: version, hash: "blake3", frame: MinFrameBytes, message: 1, batch: 1, rounds: 1},
		{version: version, hash: strings.Repeat("x", 100), from: 5, to: math.MaxInt64, frame: math.MaxInt32, message: 7, batch: 8, rounds: 9},
	} {
		if got, err := parseTerms(want.encode()); err != nil || got != want {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	if n := kindSize + len(wide().encode()); n > maxHello {
		t.Errorf("a hello of %d bytes, limit %d", n, maxHello)
	}
	good := wide().encode()
	for what, body := range map[string][]byte{
		"version: varints malformed": nil,
		"too many":                   append(slices.Clone(good), 0),
		"rounds: varints malformed":  good[:len(good)-2],
		"hash":                       {version, 50, 'x'},
		"not minimal":                {0x81, 0x00},
	} {
		if _, err := parseTerms(body); !errors.Is(err, ErrFault) || !strings.Contains(err.Error(), what) {
			t.Errorf("%x: %v, want a fault that tells of %q", body, err, what)
		}
	}
}

func TestMessageFrame(t *testing.T) {
	body := slices.Concat(messageFrame(t, topic, numbered(3))...)
	name, data, err := parseMessage(body)
	if err != nil || name != topic || !bytes.Equal(data, body[1+len(topic):]) {
		t.Errorf("%q, %x, %v", name, data, err)
	}
	long := append(binary.AppendUvarint(nil, maxTopic+1), make([]byte, maxTopic+1)...)
	if _, _, err := parseMessage(long); !errors.Is(err, ErrFault) || !strings.Contains(err.Error(), "limit 1024") {
		t.Errorf("long topic: %v", err)
	}
}

// FuzzFrame reads any bytes as a frame of each kind: what is read writes the same
// bytes again.
func FuzzFrame(f *testing.F) {
	f.Add(wide().encode())
	f.Add(slices.Concat(messageFrame(f, topic, numbered(1))...))
	f.Add(appendIDs(nil, []message.Hash{{1}, {2}}))
	f.Add([]byte{2})
	f.Fuzz(func(t *testing.T, body []byte) {
		if terms, err := parseTerms(body); err == nil && terms.version == version && !bytes.Equal(terms.encode(), body) {
			t.Errorf("%x reads as %+v, which writes %x", body, terms, terms.encode())
		}
		if name, data, err := parseMessage(body); err == nil {
			again := append(append(binary.AppendUvarint(nil, uint64(len(name))), name...), data...)
			if !bytes.Equal(again, body) {
				t.Errorf("%x reads as %q and %x", body, name, data)
			}
		}
		if ids, err := parseIDs(body, 100); err == nil && !bytes.Equal(appendIDs(nil, ids), body) {
			t.Errorf("%x reads as %d ids", body, len(ids))
		}
		if a, err := parseAbsence(body); err == nil && a >= absences {
			t.Errorf("%x is absence %d", body, a)
		}
	})
}

// FuzzSession changes what one side writes, as the input says: both sides end, no
// claim is left, and what was accepted was asked for and is a message of the other
// side.
func FuzzSession(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte{0, 3, 1, 1, 9, 0xff, 2, 40, 0, 3, 0, 7}, true)
	f.Add([]byte{0, 0, 0, 0, 0, 0, 1, 200, 1}, false)
	f.Add([]byte{0, 0, 0, 0, 0, 0, 4, 5, 1, 2, 2, 2}, true)
	f.Fuzz(func(t *testing.T, script []byte, answers bool) {
		synctest.Test(t, func(t *testing.T) { // where to wait for lost bytes takes no time
			changed := Began
			if answers {
				changed = Answered
			}
			fuzzSession(t, script, changed)
		})
	})
}

func fuzzSession(t *testing.T, script []byte, changed Side) {
	sa, sb := shelfOf(0, 40), shelfOf(20, 60)
	o := Options{FrameBytes: MinFrameBytes, Batch: 8}
	a, b := offline(t, sa, o), offline(t, sb, o)
	change := func(b []byte) []byte { b, script = mutate(b, script); return b }
	ctx, cancel := context.WithTimeout(t.Context(), DefaultSessionTime)
	defer cancel()
	began, answered, _ := converse(ctx, a, b, change, changed)
	for _, s := range []*Syncer{a, b} {
		stats := s.Stats()
		if len(s.ledger.slots) != 0 || stats.Received != stats.Synced+stats.Refused+stats.Failed {
			t.Errorf("%d claims left, %+v", len(s.ledger.slots), stats)
		}
	}
	all := shelfOf(0, 60)
	for _, id := range slices.Concat(sa.accepted(), sb.accepted()) {
		if all.messages[id] == nil {
			t.Errorf("accepted %s, which nobody has (%v, %v)", id, began.err, answered.err)
		}
	}
}

// mutate changes what is written by the first three bytes of the script, and
// returns the rest: what to do, where, and with what.
func mutate(b, script []byte) (changed, rest []byte) {
	if len(script) < 3 || len(b) == 0 {
		return b, script
	}
	at, with := int(script[1])*len(b)/256, script[2]
	switch script[0] % 5 {
	case 0: // nothing
	case 1:
		b[at] ^= with
	case 2:
		b = b[:at]
	case 3:
		b = slices.Insert(b, at, with)
	case 4:
		b = append(b, b[at:]...)
	}
	return b, script[3:]
}
