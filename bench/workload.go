package bench

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message/pb"
)

// Topics and version of every workload message.
const (
	ContentTopic = "/waku/2/default-content/proto"
	PubsubTopic  = "/waku/2/rs/0/0"

	workloadVersion = 2
)

// A Workload is the messages that one run publishes, in order. It depends on
// the arguments of [NewWorkload] alone.
type Workload struct {
	Topic    string            // pubsub topic
	First    int               // index of Messages[0]; the others follow
	Messages []*pb.WakuMessage // no two with the same payload or timestamp
}

// NewWorkload returns n messages of p's sizes for a pubsub topic, with indices
// from firstIndex on. Two workloads of the same seed and base whose ranges of
// indices do not overlap share no message, payload or timestamp: give warm-up
// messages the indices from n on.
//
// The number of messages of each size is exact, by largest remainder; their
// order is shuffled with the seed. A payload is the index, 8 bytes big-endian,
// followed by bytes that do not compress and depend on seed and index only. The
// timestamp is base plus index nanoseconds. There is no meta.
//
// It panics if p is not valid, or if n or firstIndex is negative.
func NewWorkload(seed uint64, p Profile, topic string, n int, base time.Time, firstIndex int) Workload {
	if err := p.Validate(); err != nil {
		panic(fmt.Sprintf("bench: build workload: profile %s: %v", p, err))
	}
	if n < 0 || firstIndex < 0 {
		panic(fmt.Sprintf("bench: build workload: %d messages from index %d: negative", n, firstIndex))
	}
	w := Workload{Topic: topic, First: firstIndex, Messages: make([]*pb.WakuMessage, n)}
	for i, size := range shuffledSizes(seed, p, n, firstIndex) {
		index := firstIndex + i
		w.Messages[i] = &pb.WakuMessage{
			Payload:      newPayload(seed, index, size),
			ContentTopic: ContentTopic,
			Version:      proto.Uint32(workloadVersion),
			Timestamp:    proto.Int64(base.UnixNano() + int64(index)),
		}
	}
	return w
}

// PayloadBytes returns the sum of the payload sizes.
func (w Workload) PayloadBytes() int64 {
	var sum int64
	for _, m := range w.Messages {
		sum += int64(len(m.GetPayload()))
	}
	return sum
}

// PayloadIndex returns the index that a payload of NewWorkload holds. It is false
// for a payload too short to hold one. Recorded messages hold none: see [Numbers].
func PayloadIndex(payload []byte) (index uint64, ok bool) {
	if len(payload) < indexSize {
		return 0, false
	}
	return binary.BigEndian.Uint64(payload), true
}

func shuffledSizes(seed uint64, p Profile, n, firstIndex int) []int {
	sizes := make([]int, 0, n)
	for i, count := range p.counts(n) {
		for range count {
			sizes = append(sizes, p.Sizes[i])
		}
	}
	shuffle := rand.New(rand.NewPCG(seed, uint64(firstIndex)))
	shuffle.Shuffle(n, func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	return sizes
}

// newPayload gives each message a stream of its own, so that its bytes do not
// depend on the sizes of those before it.
func newPayload(seed uint64, index, size int) []byte {
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	binary.BigEndian.PutUint64(key[8:], uint64(index))
	payload := make([]byte, size)
	binary.BigEndian.PutUint64(payload, uint64(index))
	_, _ = rand.NewChaCha8(key).Read(payload[indexSize:])
	return payload
}
