package negentropy

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/message"
)

func wantMalformed(t testing.TB, err error) {
	t.Helper()
	if !errors.Is(err, ErrMalformed) || !strings.Contains(err.Error(), "offset ") {
		t.Errorf("got error %v, want %v with an offset", err, ErrMalformed)
	}
}

// bothSides returns what a responder and an initiator with 40 items say to a
// frame.
func bothSides(t testing.TB, frame []byte, limits Limits) (responder, initiator error) {
	t.Helper()
	v := vector(t, numbered(0, 40))
	i, r := sides(t, v, v, limits, limits)
	if _, err := i.Start(); err != nil {
		t.Fatal(err)
	}
	_, responder = r.Step(frame)
	_, _, initiator = i.Step(frame)
	return responder, initiator
}

func TestMalformed(t *testing.T) {
	zeros := strings.Repeat("00", 40)
	for _, c := range []struct{ name, hex, want string }{
		{"empty", "", "offset 0: version: 1 bytes wanted, 0 left"},
		{"version of another protocol", "7b", "offset 0: version byte is 0x7b"},
		{"no mode", "610000", "offset 3: mode ends early"},
		{"mode 3", "61000003", "offset 3: mode is 3"},
		{"mode cut", "61000081", "offset 3: mode ends early"},
		{"fingerprint cut", "61000001aa", "offset 4: fingerprint: 16 bytes wanted, 1 left"},
		{"timestamp cut", "6182", "offset 1: timestamp ends early"},
		{"timestamp with a zero", "61800100" + "00", "offset 1: timestamp begins with a zero"},
		{"timestamp of 65 bits", "6183ffffffffffffffff7f0000", "offset 1: timestamp exceeds 64 bits"},
		{"prefix of 33 bytes", "610021" + zeros, "offset 2: an id's prefix is 33 bytes long"},
		{"prefix cut", "610003aabb", "offset 3: an id's prefix: 3 bytes wanted, 2 left"},
		{"2^21 ids, none there", "6100000281808000", "offset 4: 2097152 ids in 0 bytes"},
		{"2^64-1 ids", "6100000281ffffffffffffffff7f" + zeros, "offset 4: 18446744073709551615 ids in 40 bytes"},
		{"ids cut", "6100000202" + zeros, "offset 4: 2 ids in 40 bytes"},
		{"no number of ids", "61000002", "offset 4: number of ids ends early"},
		{"range after the last, cut", "6100000000", "offset 5: length of an id's prefix ends early"},
		{"bound below the last", "610501ff00" + "0101fe00", "offset 5: bound is below the one before"},
		{"prefix shorter than the last", "610501ff00" + "010000", "offset 5: bound is below the one before"},
	} {
		t.Run(c.name, func(t *testing.T) {
			frame, err := hex.DecodeString(c.hex)
			if err != nil {
				t.Fatal(err)
			}
			responder, initiator := bothSides(t, frame, Limits{})
			for side, err := range map[string]error{"responder": responder, "initiator": initiator} {
				wantMalformed(t, err)
				if want := "negentropy: read frame: malformed frame: " + c.want; err == nil || err.Error() != want {
					t.Errorf("%s:\n got %v\nwant %s", side, err, want)
				}
			}
		})
	}
}

// A count is checked against the frame before anything of its size is made.
func TestClaimsAllocateNothing(t *testing.T) {
	v := vector(t, nil)
	for _, n := range []uint64{1 << 21, 1 << 40, math.MaxUint64} {
		frame := appendVarint([]byte{version, 0, 0, byte(modeIDList)}, n)
		i, r := sides(t, v, v, Limits{}, Limits{})
		if _, err := i.Start(); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, errR := r.Step(frame)
		_, _, errI := i.Step(frame)
		runtime.ReadMemStats(&after)
		wantMalformed(t, errR)
		wantMalformed(t, errI)
		if got := after.TotalAlloc - before.TotalAlloc; got > 64<<10 {
			t.Errorf("%d ids claimed: %d bytes allocated", n, got)
		}
	}
}

func TestReaderAllocatesNothing(t *testing.T) {
	w := newWriter()
	split(w, vector(t, numbered(0, 1000)), 0, 1000, infinity)
	split(w, vector(t, numbered(0, 31)), 0, 31, infinity)
	got := testing.AllocsPerRun(10, func() {
		r := reader{frame: w.frame, limits: Limits{}.withDefaults()}
		if _, err := r.version(); err != nil {
			t.Fatal(err)
		}
		for r.more() {
			if _, err := r.next(); err != nil {
				t.Fatal(err)
			}
		}
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

func TestVarint(t *testing.T) {
	for _, c := range []struct {
		n    uint64
		want string
	}{
		{0, "00"},
		{1, "01"},
		{127, "7f"},
		{128, "8100"},
		{16383, "ff7f"},
		{16384, "818000"},
		{1 << 21, "81808000"},
		{math.MaxUint64, "81ffffffffffffffff7f"},
	} {
		if got := hex.EncodeToString(appendVarint(nil, c.n)); got != c.want {
			t.Errorf("%d: got %s, want %s", c.n, got, c.want)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64().Draw(t, "n")
		r := reader{frame: appendVarint(nil, n)}
		if got, err := r.varint("number"); got != n || err != nil || r.more() {
			t.Fatalf("got %d, %v, want %d", got, err, n)
		}
	})
}

// Timestamps up to the last and infinity survive the wire, each after each.
func TestBounds(t *testing.T) {
	id := message.Hash{1, 2, 3}
	bounds := []bound{
		{},
		{Item: Item{Timestamp: 1}},
		{Item: Item{Timestamp: 1, ID: id}, n: 3},
		{Item: Item{Timestamp: 1, ID: id}, n: idSize},
		{Item: Item{Timestamp: 1 << 63}},
		{Item: Item{Timestamp: Infinity - 1}},
		{Item: Item{Timestamp: Infinity - 1, ID: id}, n: 3},
		infinity,
		infinity,
	}
	for from := range bounds {
		w := newWriter()
		for _, b := range bounds[from:] {
			w.skip(b)
		}
		r := reader{frame: w.frame, off: 1, limits: Limits{}.withDefaults()}
		for _, want := range bounds[from:] {
			if got, err := r.next(); err != nil || got.end != want {
				t.Fatalf("got %+v, %v, want %+v", got.end, err, want)
			}
		}
	}
	// A sum past the last timestamp is infinity.
	r := reader{frame: []byte("\x61\x02\x00\x00\x81\xff\xff\xff\xff\xff\xff\xff\xff\x7f\x00\x00"), off: 1, limits: Limits{}.withDefaults()}
	for _, want := range []uint64{1, Infinity} {
		if got, err := r.next(); err != nil || got.end.Timestamp != want {
			t.Fatalf("got %d, %v, want %d", got.end.Timestamp, err, want)
		}
	}
}

func TestMinimalBound(t *testing.T) {
	item := func(timestamp uint64, id ...byte) Item {
		i := Item{Timestamp: timestamp}
		copy(i.ID[:], id)
		return i
	}
	whole := slices.Repeat([]byte{7}, idSize)
	for _, c := range []struct {
		a, b, want Item
		n          int
	}{
		{item(1, 9), item(2, 3), item(2), 0},
		{item(1, 3), item(1, 9, 9), item(1, 9), 1},
		{item(1, 9, 8, 1), item(1, 9, 9, 1), item(1, 9, 9), 2},
		{item(1, append(slices.Clone(whole[1:]), 6)...), item(1, whole...), item(1, whole...), idSize},
	} {
		got := minimalBound(c.a, c.b)
		if got.Item != c.want || got.n != c.n {
			t.Errorf("%v %v: got %v, want %v of %d", c.a, c.b, got, c.want, c.n)
		}
		if got.Compare(c.a) <= 0 || got.Compare(c.b) > 0 {
			t.Errorf("%v does not separate %v and %v", got, c.a, c.b)
		}
	}
}

// A fingerprint against its definition, in big numbers; and sums of parts.
func TestFingerprint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, _ := drawItems(t)
		v := vector(t, a)
		from := rapid.IntRange(0, v.Len()).Draw(t, "from")
		to := rapid.IntRange(from, v.Len()).Draw(t, "to")
		total, parts, rest := new(big.Int), [2]Sum{}, Sum{}
		for i := range v.Len() {
			rest.Add(&v.items[i].ID)
		}
		for i := range v.Len() {
			if i < from || i >= to {
				rest.Remove(&v.items[i].ID)
			}
		}
		for i := from; i < to; i++ {
			id := v.At(i).ID
			parts[i%2].Add(&id)
			slices.Reverse(id[:])
			total.Add(total, new(big.Int).SetBytes(id[:]))
		}
		total.Mod(total, new(big.Int).Lsh(big.NewInt(1), 256))
		input := total.FillBytes(make([]byte, idSize))
		slices.Reverse(input)
		digest := sha256.Sum256(appendVarint(input, uint64(to-from)))
		parts[0].Merge(parts[1])
		for _, got := range []Fingerprint{v.Fingerprint(from, to), parts[0].Fingerprint(to - from), rest.Fingerprint(to - from)} {
			if want := Fingerprint(digest[:]); got != want {
				t.Fatalf("got %x, want %x", got, want)
			}
		}
	})
}
