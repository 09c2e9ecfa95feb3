package bench

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/message"
)

func TestParseProfile(t *testing.T) {
	for _, test := range []struct {
		in, canonical string
		want          Profile
	}{
		{"10/50/150kB@25/50/25", "10/50/150kB@25/50/25", DefaultProfile()},
		{"1kB@100", "1kB@100", Profile{[]int{1000}, []int{100}}},
		{"1000B@100", "1kB@100", Profile{[]int{1000}, []int{100}}},
		{"8/1000B@1/99", "8/1000B@1/99", Profile{[]int{8, 1000}, []int{1, 99}}},
		{"0.01/0.15MB@50/50", "10/150kB@50/50", Profile{[]int{10_000, 150_000}, []int{50, 50}}},
		{"1.5kB@100", "1500B@100", Profile{[]int{1500}, []int{100}}},
		{"1.50/2.0kB@40/60", "1500/2000B@40/60", Profile{[]int{1500, 2000}, []int{40, 60}}},
	} {
		got, err := ParseProfile(test.in)
		if err != nil {
			t.Errorf("ParseProfile(%q): %v", test.in, err)
			continue
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("ParseProfile(%q) (-want +got):\n%s", test.in, diff)
		}
		if got.String() != test.canonical {
			t.Errorf("ParseProfile(%q).String() = %q, want %q", test.in, got.String(), test.canonical)
		}
	}
}

func TestParseProfileErrors(t *testing.T) {
	for _, test := range []struct {
		in   string
		want []string // each is in the error
	}{
		{"", []string{"no @"}},
		{"10kB", []string{"no @"}},
		{"10@100", []string{`unit ""`}},
		{"10KB@100", []string{`unit "KB" is not B, kB or MB`}},
		{"@100", []string{`unit ""`}},
		{"10//5kB@50/25/25", []string{`size ""`}},
		{"1.kB@100", []string{`unit ".kB"`}},
		{"1./5kB@50/50", []string{`size "1."`}},
		{"-5kB@100", []string{`size "-5" is not a positive number`}},
		{"1e1kB@100", []string{`size "1e1"`}},
		{"1.0005kB@100", []string{`size "1.0005" is not a whole number of bytes`}},
		{"99999999999999999999kB@100", []string{"too large"}},
		{"10kB@", []string{`mix ""`}},
		{"10kB@-100", []string{`mix "-100" is not a positive whole number`}},
		{"10kB@x", []string{`mix "x"`}},
		{"10kB@99.5", []string{`mix "99.5"`}},
		{"10kB@90", []string{"mix sums to 90, not 100"}},
		{"10/50kB@100", []string{"2 sizes but 1 parts"}},
		{"0B@100", []string{"size 0 is not positive"}},
		{"7B@100", []string{"size 7 B is too small", "index"}},
		{"1MB@100", []string{"size 1000000 B is too large", "153552"}},
		{"10kB/5kB@50/50", []string{`size "10kB"`}},
		// Everything wrong is said at once.
		{"7/200000B@0/50/49", []string{"2 sizes but 3 parts", "size 7", "size 200000", "mix 0", "sums to 99"}},
	} {
		got, err := ParseProfile(test.in)
		if err == nil {
			t.Errorf("ParseProfile(%q) = %v, want an error", test.in, got)
			continue
		}
		for _, want := range append(test.want, "bench: parse profile") {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("ParseProfile(%q): %q does not say %q", test.in, err, want)
			}
		}
	}
}

func TestProfileValidateZero(t *testing.T) {
	err := Profile{}.Validate()
	if err == nil || !strings.Contains(err.Error(), "no sizes") {
		t.Errorf("zero Profile: %v, want no sizes", err)
	}
}

// drawProfile draws a valid profile: cuts of 1 to 99 percent, and sizes half of
// which are whole kB.
func drawProfile(t *rapid.T) Profile {
	var p Profile
	cuts := rapid.SliceOfNDistinct(rapid.IntRange(1, 99), 0, 9, rapid.ID[int]).Draw(t, "cuts")
	slices.Sort(cuts)
	from := 0
	kilo := rapid.Bool().Draw(t, "kilo")
	for _, cut := range append(cuts, 100) {
		size := rapid.IntRange(indexSize, MaxPayload).Draw(t, "size")
		if kilo {
			size = 1000 * rapid.IntRange(1, MaxPayload/1000).Draw(t, "kB")
		}
		p.Sizes = append(p.Sizes, size)
		p.Mix = append(p.Mix, cut-from)
		from = cut
	}
	return p
}

func TestProfileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawProfile(t)
		got, err := ParseProfile(p.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(p, got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", p, diff)
		}
	})
}

func TestProfileCounts(t *testing.T) {
	thirds := Profile{Sizes: []int{8, 9, 10}, Mix: []int{33, 33, 34}}
	for _, test := range []struct {
		p    Profile
		n    int
		want []int
	}{
		{DefaultProfile(), 1000, []int{250, 500, 250}},
		{DefaultProfile(), 50, []int{13, 25, 12}}, // 12.5 and 12.5: the earlier
		{DefaultProfile(), 1, []int{0, 1, 0}},
		{DefaultProfile(), 0, []int{0, 0, 0}},
		{thirds, 1, []int{0, 0, 1}},
		{thirds, 10, []int{3, 3, 4}},
	} {
		if diff := cmp.Diff(test.want, test.p.counts(test.n)); diff != "" {
			t.Errorf("%s, %d messages (-want +got):\n%s", test.p, test.n, diff)
		}
	}
}

func TestProfileCountsAreWithinOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, n := drawProfile(t), rapid.IntRange(0, 5000).Draw(t, "n")
		sum := 0
		for i, count := range p.counts(n) {
			sum += count
			if off := 100*count - n*p.Mix[i]; off <= -100 || off >= 100 {
				t.Fatalf("%s: %d of %d messages are %d percent", p, count, n, p.Mix[i])
			}
		}
		if sum != n {
			t.Fatalf("%s: counts sum to %d, want %d", p, sum, n)
		}
	})
}

// TestMaxPayload holds the constant against the encoder, with the timestamp
// whose encoding is longest.
func TestMaxPayload(t *testing.T) {
	p := Profile{Sizes: []int{MaxPayload}, Mix: []int{100}}
	m := NewWorkload(1, p, PubsubTopic, 1, time.Unix(0, 0), 0).Messages[0]
	m.Timestamp = proto.Int64(-1 << 63)
	if got := proto.Size(m); got != message.DefaultMaxSize {
		t.Errorf("largest message is encoded in %d bytes, want %d", got, message.DefaultMaxSize)
	}
}
