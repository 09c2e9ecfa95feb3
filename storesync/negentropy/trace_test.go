package negentropy

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/msgpath/msgpath/internal/golden"
)

// Whole sessions as text: each frame, its ranges by their ends, and what was
// found.
func TestTrace(t *testing.T) {
	sameTime := func(prefix string, n int) (items []Item) {
		for i := range n {
			items = append(items, Item{Timestamp: 7, ID: named(prefix, i)})
		}
		return items
	}
	small := Limits{FrameBytes: MinFrameBytes}
	for _, c := range []struct {
		name   string
		a, b   []Item
		limits Limits
	}{
		{"lists", numbered(0, 5), numbered(2, 5), Limits{}},
		{"equal", numbered(0, 100), numbered(0, 100), Limits{}},
		{"scattered", numbered(0, 1000), append(numbered(0, 500), numbered(501, 500)...), Limits{}},
		{"one_time", sameTime("shared", 200), append(sameTime("shared", 200), sameTime("own", 2)...), Limits{}},
		{"full_frames", numbered(0, 5), numbered(2, 300), small},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := reconcile(t, vector(t, c.a), vector(t, c.b), c.limits, c.limits)
			golden.Equal(t, "testdata/"+c.name+".trace", trace(t, s))
		})
	}
}

func trace(t *testing.T, s transcript) []byte {
	t.Helper()
	var out bytes.Buffer
	for i, frame := range s.frames {
		fmt.Fprintf(&out, "%s %d bytes\n", []string{"initiator", "responder"}[i%2], len(frame))
		r := reader{frame: frame, off: 1, limits: Limits{}.withDefaults()}
		for r.more() {
			in, err := r.next()
			if err != nil {
				t.Fatal(err)
			}
			end := fmt.Sprintf("%d %x", in.end.Timestamp, in.end.ID[:in.end.n])
			if in.end == infinity {
				end = "infinity "
			}
			fmt.Fprintf(&out, "  below %-12s ", end)
			switch in.mode {
			case modeSkip:
				fmt.Fprintln(&out, "skip")
			case modeFingerprint:
				fmt.Fprintf(&out, "fingerprint %x\n", in.fingerprint[:4])
			case modeIDList:
				fmt.Fprintf(&out, "%d ids\n", len(in.ids)/idSize)
			}
		}
	}
	fmt.Fprintf(&out, "%d rounds, have %d, need %d\n", s.rounds(), len(s.Have), len(s.Need))
	return out.Bytes()
}
