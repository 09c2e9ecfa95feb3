package negentropy

import (
	"errors"
	"fmt"
)

// What can be wrong with a peer. Each error that wraps one of these says where.
var (
	ErrMalformed = errors.New("malformed frame")
	ErrLimit     = errors.New("limit exceeded")
	ErrVersion   = errors.New("unsupported protocol version")
)

// MinFrameBytes is the least that FrameBytes can be, besides 0.
const MinFrameBytes = 4096

// Defaults of [Limits].
const (
	DefaultPeerFrameBytes = 16 << 20
	DefaultPeerRanges     = 1 << 18
	DefaultPeerIDs        = 1 << 18
	DefaultNeed           = 1 << 20
	DefaultRounds         = 1 << 16
)

// Limits bound one session. The zero value holds the defaults. A set that differs
// in more than they allow is to be reconciled in windows of time.
type Limits struct {
	FrameBytes     int // largest frame to make; 0: no limit, else at least MinFrameBytes
	PeerFrameBytes int // largest frame to read; 0: DefaultPeerFrameBytes
	PeerRanges     int // most ranges in a frame to read; 0: DefaultPeerRanges
	PeerIDs        int // most ids in a frame to read, all its lists together; 0: DefaultPeerIDs
	Need           int // most ids that an Initiator reports as needed; 0: DefaultNeed
	Rounds         int // most frames to read; 0: DefaultRounds
}

// Validate reports everything wrong with l.
func (l Limits) Validate() error {
	var errs []error
	for _, f := range []struct {
		name  string
		value int
	}{
		{"FrameBytes", l.FrameBytes},
		{"PeerFrameBytes", l.PeerFrameBytes},
		{"PeerRanges", l.PeerRanges},
		{"PeerIDs", l.PeerIDs},
		{"Need", l.Need},
		{"Rounds", l.Rounds},
	} {
		if f.value < 0 {
			errs = append(errs, fmt.Errorf("negentropy: limits: %s %d is negative", f.name, f.value))
		}
	}
	if l.FrameBytes > 0 && l.FrameBytes < MinFrameBytes {
		errs = append(errs, fmt.Errorf("negentropy: limits: FrameBytes %d is below %d", l.FrameBytes, MinFrameBytes))
	}
	return errors.Join(errs...)
}

// withDefaults returns l with each default in its place.
func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		value     *int
		byDefault int
	}{
		{&l.PeerFrameBytes, DefaultPeerFrameBytes},
		{&l.PeerRanges, DefaultPeerRanges},
		{&l.PeerIDs, DefaultPeerIDs},
		{&l.Need, DefaultNeed},
		{&l.Rounds, DefaultRounds},
	} {
		if *f.value == 0 {
			*f.value = f.byDefault
		}
	}
	return l
}

// check returns an error if got, of what, is more than limit.
func check(what string, got, limit int) error {
	if got > limit {
		return fmt.Errorf("%w: %d %s, limit %d", ErrLimit, got, what, limit)
	}
	return nil
}
