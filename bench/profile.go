package bench

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/msgpath/msgpath/message"
)

// indexSize is the part of each payload that holds the message's index.
const indexSize = 8

// maxOverhead is the most bytes that an encoded workload message has besides
// its payload: tag and length of a payload of up to 2 MiB (1+3), of the content
// topic (1+1), and tag and value of version (1+1) and timestamp (1+10).
const maxOverhead = 4 + 2 + len(ContentTopic) + 2 + 11

// MaxPayload is the largest payload, in bytes, that a workload message can have
// within the default size limit of a node.
const MaxPayload = message.DefaultMaxSize - maxOverhead

// A Profile says how large the payloads of a workload are: Mix[i] percent of
// them have Sizes[i] bytes.
type Profile struct {
	Sizes []int // bytes, each from 8 to [MaxPayload]
	Mix   []int // percent, each at least 1, one for each size, 100 in sum
}

// DefaultProfile returns 10/50/150kB@25/50/25.
func DefaultProfile() Profile {
	return Profile{Sizes: []int{10_000, 50_000, 150_000}, Mix: []int{25, 50, 25}}
}

// units of payload sizes, in decimal bytes.
var units = []struct {
	name   string
	digits int // decimal digits: 1 unit is 10^digits bytes
}{{"B", 0}, {"kB", 3}, {"MB", 6}}

// ParseProfile reads sizes, one unit for all of them, and the mix in percent:
// "10/50/150kB@25/50/25", "1kB@100". Units are B, kB (1000 bytes) and MB (10⁶);
// a size may have decimals as long as it comes to whole bytes. The error says
// everything that is wrong with a profile that can be read.
func ParseProfile(s string) (Profile, error) {
	p, err := parseProfile(s)
	if err = cmp.Or(err, p.Validate()); err != nil {
		return Profile{}, fmt.Errorf("bench: parse profile %q: %w", s, err)
	}
	return p, nil
}

func parseProfile(s string) (p Profile, err error) {
	sizes, mix, ok := strings.Cut(s, "@")
	if !ok {
		return p, errors.New("no @ between sizes and mix, as in 10/50/150kB@25/50/25")
	}
	end := strings.LastIndexAny(sizes, "0123456789") + 1
	digits, err := unitDigits(sizes[end:])
	if err != nil {
		return p, err
	}
	for field := range strings.SplitSeq(sizes[:end], "/") {
		size, err := parseSize(field, digits)
		if err != nil {
			return p, err
		}
		p.Sizes = append(p.Sizes, size)
	}
	for field := range strings.SplitSeq(mix, "/") {
		percent, err := strconv.ParseUint(field, 10, 31)
		if err != nil {
			return p, fmt.Errorf("mix %q is not a positive whole number", field)
		}
		p.Mix = append(p.Mix, int(percent))
	}
	return p, nil
}

func unitDigits(name string) (int, error) {
	for _, u := range units {
		if u.name == name {
			return u.digits, nil
		}
	}
	return 0, fmt.Errorf("unit %q is not B, kB or MB", name)
}

// parseSize reads a decimal number of units of 10^digits bytes. It does not use
// floating point, in which 0.3 of a unit is not a whole number of bytes.
func parseSize(field string, digits int) (int, error) {
	whole, fraction, point := strings.Cut(field, ".")
	number := whole + fraction
	if strings.Trim(number, "0123456789") != "" || whole == "" || point && fraction == "" {
		return 0, fmt.Errorf("size %q is not a positive number", field)
	}
	fraction = strings.TrimRight(fraction, "0")
	if len(fraction) > digits {
		return 0, fmt.Errorf("size %q is not a whole number of bytes", field)
	}
	number = whole + fraction + strings.Repeat("0", digits-len(fraction))
	size, err := strconv.ParseUint(number, 10, 31)
	if err != nil {
		return 0, fmt.Errorf("size %q is too large: at most %d bytes fit a message", field, MaxPayload)
	}
	return int(size), nil
}

// Validate reports everything wrong with p.
func (p Profile) Validate() error {
	var errs []error
	if len(p.Sizes) == 0 {
		errs = append(errs, errors.New("no sizes"))
	}
	if len(p.Sizes) != len(p.Mix) {
		errs = append(errs, fmt.Errorf("%d sizes but %d parts in the mix", len(p.Sizes), len(p.Mix)))
	}
	for _, size := range p.Sizes {
		errs = append(errs, checkPayload(size))
	}
	sum := 0
	for _, percent := range p.Mix {
		if percent < 1 {
			errs = append(errs, fmt.Errorf("mix %d is not positive", percent))
		}
		sum += percent
	}
	if sum != 100 {
		errs = append(errs, fmt.Errorf("mix sums to %d, not 100", sum))
	}
	return errors.Join(errs...)
}

func checkPayload(size int) error {
	switch {
	case size < 1:
		return fmt.Errorf("size %d is not positive", size)
	case size < indexSize:
		return fmt.Errorf("size %d B is too small: the index of the message takes %d", size, indexSize)
	case size > MaxPayload:
		return fmt.Errorf("size %d B is too large: at most %d fit a message", size, MaxPayload)
	}
	return nil
}

// String returns the one form of p that [ParseProfile] reads back to p: sizes
// in kB where all of them are whole kB, else in B.
func (p Profile) String() string {
	unit, divisor := "kB", 1000
	if slices.ContainsFunc(p.Sizes, func(size int) bool { return size%1000 != 0 }) {
		unit, divisor = "B", 1
	}
	var b strings.Builder
	for i, size := range p.Sizes {
		fmt.Fprintf(&b, "%s%d", separator(i), size/divisor)
	}
	b.WriteString(unit + "@")
	for i, percent := range p.Mix {
		fmt.Fprintf(&b, "%s%d", separator(i), percent)
	}
	return b.String()
}

func separator(i int) string {
	if i == 0 {
		return ""
	}
	return "/"
}

// counts returns how many of n messages have each size. Where percent of n is
// not whole, the sizes with the largest remainders get one message more, the
// earlier first among equals, so that the counts always sum to n.
func (p Profile) counts(n int) []int {
	counts := make([]int, len(p.Mix))
	order := make([]int, len(p.Mix))
	left := n
	for i, percent := range p.Mix {
		counts[i] = n * percent / 100
		left -= counts[i]
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(n*p.Mix[b]%100, n*p.Mix[a]%100)
	})
	for _, i := range order[:left] {
		counts[i]++
	}
	return counts
}

// payloads yields each size and how many of n messages have it.
func (p Profile) payloads(n int) iter.Seq2[int, int] {
	return func(yield func(size, messages int) bool) {
		for i, count := range p.counts(n) {
			if !yield(p.Sizes[i], count) {
				return
			}
		}
	}
}

// payloadBytes returns the sum of payload sizes.
func payloadBytes(payloads iter.Seq2[int, int]) (sum int64) {
	for size, messages := range payloads {
		sum += int64(messages) * int64(size)
	}
	return sum
}
