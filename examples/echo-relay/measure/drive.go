package measure

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"example.org/echo-relay/pb"
)

// ErrInvalid is returned for a run in which a note was lost, doubled or altered.
var ErrInvalid = errors.New("measure: invalid run")

// A Load is what is sent through a pair.
type Load struct {
	Notes  int // how many
	Body   int // bytes of each, at least 8
	Window int // most notes under way
}

// body returns that of note i: its number and as many bytes more as are asked for.
func (l Load) body(i int) []byte {
	body := bytes.Repeat([]byte{byte(i)}, l.Body)
	binary.BigEndian.PutUint64(body, uint64(i))
	return body
}

// A drive is one run under way.
type drive struct {
	load  Load
	pair  *Pair
	sent  []time.Time
	times []time.Duration // of round trips, 0 for those under way
}

// Drive publishes the load and waits until the echo of each note has reached A.
// It returns the time of each round trip.
func Drive(ctx context.Context, pair *Pair, load Load) ([]time.Duration, error) {
	d := drive{load, pair, make([]time.Time, load.Notes), make([]time.Duration, load.Notes)}
	for i := range load.Notes {
		if i >= load.Window {
			if err := d.await(ctx); err != nil {
				return nil, err
			}
		}
		d.sent[i] = time.Now()
		if err := pair.Publish(ctx, load.body(i)); err != nil {
			return nil, err
		}
	}
	for range min(load.Window, load.Notes) {
		if err := d.await(ctx); err != nil {
			return nil, err
		}
	}
	return d.times, nil
}

// await takes one echo.
func (d *drive) await(ctx context.Context) error {
	select {
	case n := <-d.pair.Delivered():
		return d.check(n)
	case err := <-d.pair.failed:
		return errors.Join(ErrInvalid, err)
	case err := <-d.pair.ended:
		return errors.Join(ErrInvalid, errors.New("a node ended"), err)
	case <-ctx.Done():
		return fmt.Errorf("%w: an echo is missing: %w", ErrInvalid, ctx.Err())
	}
}

// check finds out which note came back, and whether it is what was sent.
func (d *drive) check(n *pb.Note) error {
	if len(n.Body) != d.load.Body || len(n.EchoOf) == 0 {
		return fmt.Errorf("%w: a note of %d bytes is no echo", ErrInvalid, len(n.Body))
	}
	i := binary.BigEndian.Uint64(n.Body)
	switch {
	case i >= uint64(d.load.Notes) || !bytes.Equal(n.Body, d.load.body(int(i))):
		return fmt.Errorf("%w: note %d was altered", ErrInvalid, i)
	case d.sent[i].IsZero() || d.times[i] != 0:
		return fmt.Errorf("%w: note %d came twice", ErrInvalid, i)
	}
	d.times[i] = time.Since(d.sent[i])
	return nil
}
