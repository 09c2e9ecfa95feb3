package bench

import (
	"bytes"

	"github.com/msgpath/msgpath/message/pb"
)

// Numbers tells the messages of a run apart: it has the number of each, its
// position among those that [Target.Start] was given. It reads a few bytes of a
// message and hashes none. It is safe for concurrent use.
type Numbers struct {
	only  map[mark]int
	alike map[mark][]numbered // of marks that several messages have
}

// mark is what most messages differ in.
type mark struct {
	timestamp    int64
	contentTopic string
	size         int      // of the payload
	ends         [16]byte // its first and last 8 bytes, or all of it
}

type numbered struct {
	number  int
	message *pb.WakuMessage
}

// NewNumbers numbers messages, of which no two are the same. It keeps those that
// only a comparison of whole payloads tells apart.
func NewNumbers(messages []*pb.WakuMessage) *Numbers {
	n := &Numbers{only: make(map[mark]int, len(messages)), alike: make(map[mark][]numbered)}
	for i, m := range messages {
		k := markOf(m)
		first, taken := n.only[k]
		if !taken {
			n.only[k] = i
			continue
		}
		if n.alike[k] == nil {
			n.alike[k] = []numbered{{first, messages[first]}}
		}
		n.alike[k] = append(n.alike[k], numbered{i, m})
	}
	return n
}

// Of returns the number of a message that came back; false: it is none of those
// that were numbered. One that was altered may have a number: who needs to know
// compares hashes.
func (n *Numbers) Of(m *pb.WakuMessage) (number int, ok bool) {
	k := markOf(m)
	if alike := n.alike[k]; alike != nil {
		for _, a := range alike {
			if bytes.Equal(a.message.GetPayload(), m.GetPayload()) && bytes.Equal(a.message.GetMeta(), m.GetMeta()) {
				return a.number, true
			}
		}
		return 0, false
	}
	number, ok = n.only[k]
	return number, ok
}

func markOf(m *pb.WakuMessage) mark {
	k := mark{timestamp: m.GetTimestamp(), contentTopic: m.GetContentTopic(), size: len(m.GetPayload())}
	n := copy(k.ends[:8], m.GetPayload())
	copy(k.ends[8:], m.GetPayload()[max(n, k.size-8):])
	return k
}
