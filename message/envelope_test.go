package message_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

const topic = "/waku/2/rs/0/0"

var (
	siteFirst  = counters.NewSite("message_test.first")
	siteSecond = counters.NewSite("message_test.second")
)

// formats are all combinations of decoder and hash with default limits.
func formats() (all []message.Format) {
	for _, d := range decoders {
		for _, a := range algorithms {
			all = append(all, message.Format{Decoder: d, Hash: a})
		}
	}
	return all
}

// atSites returns what counts holds by site.
func atSites(counts counters.Set) map[string]counters.Counts {
	sites := make(map[string]counters.Counts)
	for _, s := range counters.Load(counts) {
		sites[s.Site] = s.Counts
	}
	return sites
}

// expectCounts compares counts with want in a build that counts, and expects
// nothing in one that does not.
func expectCounts(t testing.TB, counts counters.Set, want map[string]counters.Counts) {
	t.Helper()
	got := atSites(counts)
	if !counters.Enabled {
		want = nil
	}
	if len(got) != len(want) {
		t.Errorf("counts at %d sites, want %d: %+v", len(got), len(want), got)
	}
	for site, w := range want {
		if got[site] != w {
			t.Errorf("%s: counts %+v, want %+v", site, got[site], w)
		}
	}
}

// Envelopes are the price of a message in a node: a size class of 144 bytes, in
// both builds.
func TestEnvelopeSize(t *testing.T) {
	if got := unsafe.Sizeof(message.Envelope{}); got > 144 {
		t.Errorf("an Envelope is %d bytes, want at most 144", got)
	}
}

func TestEnvelopeCharges(t *testing.T) {
	wire := marshal(t, wholeMessage())
	counts := counters.New()
	e := message.Wrap(counts, message.Format{}, topic, wire)
	if _, err := e.Message(siteFirst); err != nil {
		t.Fatal(err)
	}
	if _, err := e.Hash(siteSecond); err != nil {
		t.Fatal(err)
	}
	for range 3 { // free: it is all done
		_, errMessage := e.Message(siteSecond)
		_, errKey := e.Key(siteFirst)
		if err := errors.Join(errMessage, errKey); err != nil {
			t.Fatal(err)
		}
	}
	size, payload := uint64(len(wire)), uint64(len("payload"))
	want := map[string]counters.Counts{
		"message_test.first":  {Decodes: 1, DecodedBytes: size, Copies: 1, CopiedBytes: payload},
		"message_test.second": {Hashes: 1, HashedBytes: payload + uint64(len("meta"))},
	}
	expectCounts(t, counts, want)
	if counters.Enabled && e.Counts() != counts {
		t.Error("Counts is not the Set that the Envelope was made with")
	}
}

func TestEnvelopeAliasingCopiesNothing(t *testing.T) {
	counts := counters.New()
	e := message.Wrap(counts, message.Format{Decoder: message.Aliasing}, topic, marshal(t, wholeMessage()))
	m, err := e.Message(siteFirst)
	if err != nil {
		t.Fatal(err)
	}
	if !inside(e.Bytes(), m.Payload) {
		t.Error("the payload is not a part of the bytes")
	}
	if c := atSites(counts)["message_test.first"]; c.Copies != 0 || c.CopiedBytes != 0 {
		t.Errorf("counts %+v, want no copy", c)
	}
}

// Every order of questions from 8 goroutines costs one decode and one hash, and
// all get the same answers.
func TestEnvelopeOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom(formats()).Draw(t, "format")
		m := &pb.WakuMessage{
			Payload:      rapid.SliceOfN(rapid.Byte(), 0, 100).Draw(t, "payload"),
			ContentTopic: rapid.StringN(1, 20, 60).Draw(t, "content topic"),
			Timestamp:    proto.Int64(rapid.Int64().Draw(t, "timestamp")),
			Meta:         rapid.SliceOfN(rapid.Byte(), 0, 64).Draw(t, "meta"),
		}
		wire, err := proto.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		counts := counters.New()
		e := message.Wrap(counts, format, topic, wire)
		scripts := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom([]string{"message", "hash", "key"}), 1, 6), 8, 8).Draw(t, "scripts")
		want := message.Key{Timestamp: m.GetTimestamp(), Hash: format.Hash.Sum(topic, m)}
		for _, problem := range askAll(e, scripts, m, want) {
			t.Error(problem)
		}
		checkOnce(t, counts, slices.ContainsFunc(scripts, func(s []string) bool {
			return slices.Contains(s, "hash") || slices.Contains(s, "key")
		}))
	})
}

// askAll runs each script in a goroutine of its own and returns what any of them
// found wrong.
func askAll(e *message.Envelope, scripts [][]string, m *pb.WakuMessage, key message.Key) []string {
	var (
		done  sync.WaitGroup
		start = make(chan struct{})
		wrong = make([]string, len(scripts))
	)
	for i, script := range scripts {
		done.Go(func() {
			<-start
			for _, question := range script {
				if answer := ask(e, question, m, key); answer != "" {
					wrong[i] = answer
				}
			}
		})
	}
	close(start)
	done.Wait()
	return slices.DeleteFunc(wrong, func(s string) bool { return s == "" })
}

func ask(e *message.Envelope, question string, m *pb.WakuMessage, want message.Key) string {
	switch question {
	case "message":
		if got, err := e.Message(siteFirst); err != nil || !proto.Equal(got, m) {
			return "Message: " + got.String()
		}
	case "hash":
		if got, err := e.Hash(siteFirst); err != nil || got != want.Hash {
			return "Hash: " + got.String()
		}
	case "key":
		if got, err := e.Key(siteSecond); err != nil || got != want {
			return "Key: " + got.Hash.String()
		}
	}
	return ""
}

func checkOnce(t *rapid.T, counts counters.Set, hashed bool) {
	total := counters.Total(counters.Load(counts))
	switch {
	case !counters.Enabled:
		if total != (counters.Counts{}) {
			t.Errorf("a build that does not count counted %+v", total)
		}
	case total.Decodes != 1, hashed && total.Hashes != 1, !hashed && total.Hashes != 0:
		t.Errorf("%d decodes, %d hashes, asked for a hash: %t", total.Decodes, total.Hashes, hashed)
	}
}

func TestFresh(t *testing.T) {
	counts := counters.New()
	e := message.Wrap(counts, message.Format{}, topic, marshal(t, wholeMessage()))
	undecoded := e.Fresh()
	m, errMessage := e.Message(siteFirst)
	hash, errHash := e.Hash(siteFirst)
	if err := errors.Join(errMessage, errHash); err != nil {
		t.Fatal(err)
	}
	fresh := e.Fresh()
	if got, err := fresh.Message(siteSecond); got != m || err != nil {
		t.Errorf("Fresh decoded anew: error %v", err)
	}
	if c := atSites(counts)["message_test.second"]; c != (counters.Counts{}) {
		t.Errorf("a fresh Envelope's Message cost %+v", c)
	}
	if got, err := fresh.Hash(siteSecond); got != hash || err != nil {
		t.Errorf("fresh hash %v, %v; want %v", got, err, hash)
	}
	if c := atSites(counts)["message_test.second"]; counters.Enabled && (c.Hashes != 1 || c.Decodes != 0) {
		t.Errorf("a fresh Envelope's Hash cost %+v, want one hash", c)
	}
	if fresh.Topic() != topic || !bytes.Equal(fresh.Bytes(), e.Bytes()) || fresh.Counts() != e.Counts() {
		t.Error("Fresh is of another message")
	}
	if got, err := undecoded.Hash(siteSecond); got != hash || err != nil {
		t.Errorf("hash of an Envelope made before the decode: %v, %v", got, err)
	}
	if c := atSites(counts)["message_test.second"]; counters.Enabled && (c.Hashes != 2 || c.Decodes != 1) {
		t.Errorf("counts %+v, want a decode for the Envelope made before", c)
	}
}

// limitCases are messages past one limit each, as they would be received.
func limitCases(t testing.TB) map[string]struct {
	topic string
	wire  []byte
	want  error
} {
	payload := func(encoded int) []byte { // a message of that encoded size
		m := &pb.WakuMessage{ContentTopic: "/app/1/name/proto"}
		m.Payload = make([]byte, encoded-proto.Size(m)-1-protowire.SizeVarint(uint64(encoded)))
		return marshal(t, m)
	}
	return map[string]struct {
		topic string
		wire  []byte
		want  error
	}{
		"153600 bytes":       {topic, payload(153_600), nil},
		"153601 bytes":       {topic, payload(153_601), message.ErrTooLarge},
		"payload of 153600":  {topic, marshal(t, &pb.WakuMessage{ContentTopic: "t", Payload: make([]byte, 153_600)}), message.ErrTooLarge},
		"meta of 64":         {topic, wireCaseByID(t, "P39"), nil},
		"meta of 65":         {topic, wireCaseByID(t, "P40"), message.ErrMetaTooLong},
		"no bytes":           {topic, nil, message.ErrNoContentTopic},
		"no content topic":   {topic, wireCaseByID(t, "P43"), message.ErrNoContentTopic},
		"content topic":      {topic, wireCaseByID(t, "P17"), message.ErrInvalidTopic},
		"pubsub topic":       {"/waku/\xff", wireCaseByID(t, "P02"), message.ErrInvalidTopic},
		"no payload":         {topic, wireCaseByID(t, "P41"), nil},
		"malformed":          {topic, wireCaseByID(t, "P08"), errAny},
		"negative length":    {topic, wireCaseByID(t, "P30"), errAny},
		"10 kB of tag bytes": {topic, bytes.Repeat([]byte{0xff}, 10_000), errAny},
	}
}

// errAny stands for an error that is none of the limits'.
var errAny = errors.New("any error")

func matches(err, want error) bool {
	if want != errAny {
		return errors.Is(err, want)
	}
	return err != nil && sentinel(err) == nil
}

// sentinel returns which of the limits' errors err wraps.
func sentinel(err error) error {
	for _, s := range []error{message.ErrTooLarge, message.ErrMetaTooLong, message.ErrNoContentTopic, message.ErrInvalidTopic} {
		if errors.Is(err, s) {
			return s
		}
	}
	return nil
}

// go-libp2p-pubsub PR#189, golang/protobuf#1091: what passes and what is refused,
// with the same error from both decoders, at each call, and never a hash.
func TestEnvelopeLimits(t *testing.T) {
	for name, c := range limitCases(t) {
		for _, format := range formats() {
			e := message.Wrap(counters.New(), format, c.topic, c.wire)
			_, first := e.Hash(siteFirst)
			if !matches(first, c.want) {
				t.Errorf("%s: %+v: error %v, want %v", name, format, first, c.want)
			}
			if first != nil {
				checkSticky(t, e, first)
			}
		}
	}
}

// checkSticky asks an Envelope that refused its bytes everything again.
func checkSticky(t *testing.T, e *message.Envelope, want error) {
	t.Helper()
	for _, e := range []*message.Envelope{e, e.Fresh()} {
		m, errMessage := e.Message(siteSecond)
		h, errHash := e.Hash(siteSecond)
		k, errKey := e.Key(siteSecond)
		if errMessage != want || errHash != want || errKey != want {
			t.Errorf("later errors %v, %v, %v; want the first, %v", errMessage, errHash, errKey, want)
		}
		if m != nil || h != (message.Hash{}) || k != (message.Key{}) {
			t.Errorf("values beside the error %v: %v, %v, %v", want, m, h, k)
		}
	}
	total := counters.Total(counters.Load(e.Counts()))
	if total.Hashes != 0 || total.Decodes > 1 {
		t.Errorf("%v: cost %+v, want at most one decode", want, total)
	}
	if errors.Is(want, message.ErrTooLarge) && total.Decodes != 0 {
		t.Errorf("an oversized message was decoded")
	}
}

func TestCustomLimits(t *testing.T) {
	wire := wireCaseByID(t, "P39") // meta of 64
	for _, c := range []struct {
		limits message.Limits
		want   error
	}{
		{message.Limits{MaxSize: len(wire), MaxMeta: 64}, nil},
		{message.Limits{MaxSize: len(wire) - 1}, message.ErrTooLarge},
		{message.Limits{MaxMeta: 63}, message.ErrMetaTooLong},
		{message.Limits{MaxMeta: 1000}, nil},
	} {
		_, err := message.Wrap(counters.Set{}, message.Format{Limits: c.limits}, topic, wire).Message(siteFirst)
		if !errors.Is(err, c.want) {
			t.Errorf("%+v: error %v, want %v", c.limits, err, c.want)
		}
	}
}

func TestFormatValidate(t *testing.T) {
	for _, f := range append(formats(), message.Format{Limits: message.Limits{MaxSize: 1, MaxMeta: 1}}) {
		if err := f.Validate(); err != nil {
			t.Errorf("%+v: %v", f, err)
		}
	}
	err := message.Format{Hash: 7, Decoder: 8, Limits: message.Limits{MaxSize: -1, MaxMeta: -2}}.Validate()
	if err == nil {
		t.Fatal("accepted")
	}
	for _, part := range []string{"Algorithm(7)", "Decoder(8)", "MaxSize -1", "MaxMeta -2"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not report %s", err, part)
		}
	}
}

func TestEnvelopeAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool forget")
	}
	m := wholeMessage()
	m.ProtoReflect().SetUnknown(nil)
	wire := marshal(t, m)
	for _, a := range algorithms {
		format := message.Format{Hash: a, Decoder: message.Aliasing}
		first := testing.AllocsPerRun(100, func() {
			e := message.Wrap(counters.Set{}, format, topic, wire)
			if _, err := e.Hash(siteFirst); err != nil {
				t.Fatal(err)
			}
		})
		if first > 2 { // the Envelope and the message
			t.Errorf("%v: %v allocations to wrap, decode and hash, want at most 2", a, first)
		}
		e := message.Wrap(counters.Set{}, format, topic, wire)
		again := testing.AllocsPerRun(100, func() {
			_, errMessage := e.Message(siteFirst)
			_, errKey := e.Key(siteFirst)
			if errMessage != nil || errKey != nil {
				t.Fatal(errMessage, errKey)
			}
		})
		if again != 0 {
			t.Errorf("%v: %v allocations to ask again, want none", a, again)
		}
	}
}
