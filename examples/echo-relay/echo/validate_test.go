package echo

import (
	"crypto/ed25519"
	"testing"

	pubsub "github.com/libp2p/go-libp2p-pubsub"
	pubsubpb "github.com/libp2p/go-libp2p-pubsub/pb"
	"github.com/msgpath/msgpath/counters"
	"github.com/msgpath/msgpath/counters/counterstest"

	"example.org/echo-relay/pb"
)

var key = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

// sealed returns an encoded note. Nobody counts how it is made.
func sealed(t testing.TB, body string) []byte {
	t.Helper()
	wire, err := seal(counters.Set{}, &pb.Note{Body: []byte(body)}, key)
	if err != nil {
		t.Fatal(err)
	}
	return wire
}

func TestValidate(t *testing.T) {
	altered := sealed(t, "hello")
	altered[3]++
	for name, tt := range map[string]struct {
		wire []byte
		want pubsub.ValidationResult
	}{
		"signed":    {sealed(t, "hello"), pubsub.ValidationAccept},
		"altered":   {altered, pubsub.ValidationReject},
		"empty":     {nil, pubsub.ValidationReject},
		"too large": {make([]byte, MaxNote+1), pubsub.ValidationReject},
		"no note":   {[]byte("\xff"), pubsub.ValidationReject},
	} {
		m := &pubsub.Message{Message: &pubsubpb.Message{Data: tt.wire}}
		if got := (validator{}).validate(t.Context(), "", m); got != tt.want {
			t.Errorf("%s: result %d, want %d", name, got, tt.want)
		}
	}
}

// What is too large is refused before it is decoded.
func TestRefuseUndecoded(t *testing.T) {
	set := counters.New()
	m := &pubsub.Message{Message: &pubsubpb.Message{Data: make([]byte, MaxNote+1)}}
	(validator{counts: set}).validate(t.Context(), "", m)
	counterstest.Exact(t, set, nil)
}

// BenchmarkValidate reports 1 decodes/op and 1 hashes/op beside ns/op.
func BenchmarkValidate(b *testing.B) {
	set := counters.New()
	v := validator{counts: set}
	m := &pubsub.Message{Message: &pubsubpb.Message{Data: sealed(b, "hello")}}
	defer counterstest.PerOp(b, set)()
	for b.Loop() {
		v.validate(b.Context(), "", m)
	}
}
