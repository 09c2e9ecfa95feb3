package relay

import (
	"bytes"
	"context"
	"testing"
	"unsafe"

	"github.com/msgpath/msgpath/message"
)

// TestAliasing: at ReachNode the payload that consumers see lies inside the bytes
// received. Nobody reads them once the last stage has returned, so that
// overwriting them then changes what was handed out and nothing else.
func TestAliasing(t *testing.T) {
	for _, reach := range reaches {
		t.Run(reach.String(), func(t *testing.T) { testAliasing(t, reach) })
	}
}

func testAliasing(t *testing.T, reach Reach) {
	var env *message.Envelope
	var payload []byte
	look := func(_ context.Context, e *message.Envelope) error {
		m, err := e.Message(siteAsk)
		env, payload = e, m.GetPayload()
		return err
	}
	opts, store := withShelf(Options{Reach: reach, Stages: []Stage{look, storesync}})
	a, b := start(t, Options{Reach: reach}), start(t, opts)
	store.relay = b.Relay
	connect(t, a.host, b.host)
	a.waitMesh(topicA, 1)
	want := sample(7, 50_000)
	hash := a.publish(topicA, sample(7, 50_000))
	b.passed.wait(t, "deliveries", 1)
	b.settle()
	a.settle()

	if inside := within(payload, env.Bytes()); inside != (reach == ReachNode) {
		t.Errorf("payload lies inside the bytes received: %v", inside)
	}
	for i := range env.Bytes() {
		env.Bytes()[i] = 0xff
	}
	if changed := !bytes.Equal(payload, want.GetPayload()); changed != (reach == ReachNode) {
		t.Errorf("overwriting the bytes changed the payload handed out: %v", changed)
	}
	kept, err := message.Copying.Decode(store.stored[hash])
	if err != nil || message.Blake3.Sum(topicA, kept) != hash {
		t.Errorf("what was stored is not what was published: %v", err)
	}
}

// within reports whether part is a slice of whole's array, inside whole.
func within(part, whole []byte) bool {
	from, start := uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(unsafe.Pointer(unsafe.SliceData(whole)))
	return from >= start && from+uintptr(len(part)) <= start+uintptr(len(whole))
}

// TestNoCopyOfBytes: the Envelope that consumers see holds gossipsub's own bytes,
// at every reach.
func TestNoCopyOfBytes(t *testing.T) {
	for _, reach := range reaches {
		var seen []byte
		look := func(_ context.Context, e *message.Envelope) error { seen = e.Bytes(); return nil }
		n := start(t, Options{Reach: reach, Stages: []Stage{look}})
		m := received(topicA, encode(t, sample(0, 1000)))
		if err := n.Inject(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if len(seen) != len(m.Data) || !within(seen, m.Data) {
			t.Errorf("%v: the stage was handed other bytes", reach)
		}
	}
}
