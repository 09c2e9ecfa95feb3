package negentropy

import (
	"bytes"
	"encoding/hex"
	"slices"
	"testing"
)

// fuzzItems are 100 items on either side, 80 of them shared.
func fuzzItems() (a, b []Item) { return numbered(0, 90), append(numbered(10, 90), numbered(0, 1)...) }

func addFrames(f *testing.F) {
	for _, m := range readReference(f).Malformed {
		frame, err := hex.DecodeString(m.Hex)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(frame)
	}
	a, b := fuzzItems()
	for _, frame := range reconcile(f, vector(f, a), vector(f, b), Limits{}, Limits{}).frames {
		f.Add(frame)
	}
}

// FuzzFrame reads any bytes as a frame: its ranges are parts of it and write the
// same bytes again, and both sides take it without a panic and answer within
// their limit.
func FuzzFrame(f *testing.F) {
	addFrames(f)
	a, b := fuzzItems()
	va, vb := vector(f, a), vector(f, b)
	limits := Limits{FrameBytes: MinFrameBytes, PeerRanges: 1000, PeerIDs: 1000, Need: 1000}
	f.Fuzz(func(t *testing.T, frame []byte) {
		input := bytes.Clone(frame)
		checkRanges(t, input)
		i, r := sides(t, va, vb, limits, limits)
		if _, err := i.Start(); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			answer, errR := r.Step(input)
			question, diff, errI := i.Step(input)
			if len(answer) > MinFrameBytes || len(question) > MinFrameBytes {
				t.Errorf("frames of %d and %d bytes", len(answer), len(question))
			}
			if errR != nil && answer != nil || errI != nil && (question != nil || diff.Have != nil || diff.Need != nil) {
				t.Error("a result beside an error")
			}
			if len(diff.Need) > len(frame)/idSize || len(diff.Have) > len(a) {
				t.Errorf("%d ids in need and %d had, of %d bytes", len(diff.Need), len(diff.Have), len(frame))
			}
		}
		if !bytes.Equal(input, frame) {
			t.Error("the input was changed")
		}
	})
}

// checkRanges reads a frame to its end or first error.
func checkRanges(t *testing.T, frame []byte) {
	r := reader{frame: frame, limits: Limits{}.withDefaults()}
	v, err := r.version()
	if err != nil {
		return
	}
	w := newWriter()
	w.frame[0] = v
	for r.more() {
		from, last := r.off, r.last
		s, err := r.next()
		if err != nil {
			wantMalformed(t, err)
			return
		}
		w.begin(s.end, s.mode)
		switch s.mode {
		case modeFingerprint:
			w.frame = append(w.frame, s.fingerprint[:]...)
		case modeIDList:
			w.frame = append(appendVarint(w.frame, uint64(len(s.ids)/idSize)), s.ids...)
		}
		if s.end.Compare(last.Item) < 0 {
			t.Fatalf("bound %v after %v", s.end, last)
		}
		if s.end.Timestamp == Infinity && frame[from] != 0 { // a sum past the end is written as 0
			return
		}
		if !bytes.Equal(w.frame, frame[:r.off]) {
			t.Fatalf("got %x, want %x", w.frame, frame[:r.off])
		}
	}
}

// FuzzSession changes what one side sends, as the input says: the good side
// answers or refuses, and the session ends.
func FuzzSession(f *testing.F) {
	f.Add([]byte{}, false)
	f.Add([]byte{0, 3, 1, 1, 9, 0xff, 2, 40, 0, 3, 0, 7}, true)
	f.Add([]byte{1, 0, 0, 1, 0, 0, 1, 5, 1, 2, 2, 2, 3, 3, 3}, false)
	f.Add(slices.Repeat([]byte{1, 20, 0x55}, 30), true)
	a, b := fuzzItems()
	va, vb := vector(f, a), vector(f, b)
	f.Fuzz(func(t *testing.T, script []byte, fromInitiator bool) {
		limits := Limits{FrameBytes: MinFrameBytes, Need: 1000, Rounds: 20}
		i, r := sides(t, va, vb, limits, limits)
		frame, err := i.Start()
		for rounds := 0; frame != nil && err == nil; rounds++ {
			if rounds > limits.Rounds {
				t.Fatal("the session does not end")
			}
			if fromInitiator {
				frame, script = mutate(frame, script)
			}
			var answer []byte
			if answer, err = r.Step(frame); err != nil {
				break
			}
			if !fromInitiator {
				answer, script = mutate(answer, script)
			}
			frame, _, err = i.Step(answer)
			if len(frame) > MinFrameBytes || len(answer) > 2*MinFrameBytes {
				t.Fatalf("frames of %d and %d bytes", len(frame), len(answer))
			}
		}
	})
}

// mutate changes a frame by the first three bytes of the script, and returns the
// rest: what to do, where, and with what.
func mutate(frame, script []byte) (changed, rest []byte) {
	if len(script) < 3 {
		return frame, nil
	}
	at, with := int(script[1])*len(frame)/256, script[2]
	changed = bytes.Clone(frame)
	switch script[0] % 5 {
	case 0: // nothing
	case 1:
		changed[at] ^= with
	case 2:
		changed = changed[:at]
	case 3:
		changed = slices.Insert(changed, at, with)
	case 4:
		changed = append(changed, changed[min(at, len(changed)):]...)
	}
	return changed, script[3:]
}
