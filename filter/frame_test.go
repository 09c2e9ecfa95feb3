package filter

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protodelim"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message"
	"github.com/msgpath/msgpath/message/pb"
)

func framed(t testing.TB, topic string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	n, err := newFrame(message.Hash{}, pair{pubsub: topic}, data).WriteTo(&b)
	if err != nil || n != int64(b.Len()) {
		t.Fatalf("%d of %d bytes: %v", n, b.Len(), err)
	}
	return b.Bytes()
}

// FuzzFrame: a frame is what the generated code makes of the same push, and is
// read back as that.
func FuzzFrame(f *testing.F) {
	for _, size := range []int{0, 1, 125, 126, 127, 128, 16384, message.DefaultMaxSize} {
		f.Add("/waku/2/rs/0/0", make([]byte, size))
	}
	f.Add("", []byte{1})
	f.Fuzz(func(t *testing.T, topic string, data []byte) {
		topic = strings.ToValidUTF8(topic, "?")
		got := framed(t, topic, data)
		var want bytes.Buffer
		push := &pb.MessagePush{WakuMessage: data, PubsubTopic: &topic}
		if _, err := protodelim.MarshalTo(&want, push); err != nil {
			t.Fatal(err)
		}
		if len(data) > 0 && !bytes.Equal(got, want.Bytes()) { // an empty field is left out by the generated code
			t.Fatalf("got %x, want %x", got, want.Bytes())
		}
		body, err := readFrame(bufio.NewReader(bytes.NewReader(got)), len(got))
		if err != nil {
			t.Fatal(err)
		}
		gotTopic, gotData, err := cutPush(body)
		if err != nil || gotTopic != topic || !bytes.Equal(gotData, data) {
			t.Fatalf("read back %q, %x: %v", gotTopic, gotData, err)
		}
	})
}

// messages returns how many fields b has that are messages of a push.
func messages(b []byte) (n int) {
	for len(b) > 0 {
		num, typ, k := protowire.ConsumeField(b)
		if k < 0 {
			return n
		}
		if num == fieldMessage && typ == protowire.BytesType {
			n++
		}
		b = b[k:]
	}
	return n
}

// FuzzCutPush: what is cut out of bytes is what the generated code finds in them;
// only a push of none or of several messages is refused by us alone.
func FuzzCutPush(f *testing.F) {
	whole := framed(f, "/waku/2/rs/0/0", []byte("message"))[1:]
	for _, seed := range [][]byte{
		whole, append(whole, whole...), whole[:len(whole)-1], nil,
		{0x12, 2, 0xc0, 0x80}, // a topic that is not UTF-8
		{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}, // a length past everything
		{0x08, 1, 0x0a, 0},              // a number where the message should be, then an empty message
		bytes.Repeat([]byte{0x23}, 100), // groups without an end
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		topic, data, err := cutPush(b)
		push := new(pb.MessagePush)
		if wrong := proto.Unmarshal(b, push); wrong != nil {
			if err == nil {
				t.Fatalf("accepted %x, which is refused: %v", b, wrong)
			}
			return
		}
		switch n := messages(b); {
		case n != 1 && err == nil:
			t.Fatalf("accepted %d messages", n)
		case n == 1 && err != nil:
			t.Fatalf("refused: %v", err)
		case n == 1 && (topic != push.GetPubsubTopic() || !bytes.Equal(data, push.GetWakuMessage())):
			t.Fatalf("%q, %x; want %q, %x", topic, data, push.GetPubsubTopic(), push.GetWakuMessage())
		}
	})
}

// FuzzReadFrame: any bytes are read as frames or refused, and a frame is as long as
// it says.
func FuzzReadFrame(f *testing.F) {
	f.Add([]byte{3, 1, 2, 3, 0, 1})
	f.Add(bytes.Repeat([]byte{0xff}, 12))
	f.Fuzz(func(t *testing.T, b []byte) {
		const limit = 64
		r := bufio.NewReader(bytes.NewReader(b))
		for total := 0; ; {
			frame, err := readFrame(r, limit)
			if errors.Is(err, io.EOF) && total != len(b) {
				t.Fatalf("the end came after %d of %d bytes", total, len(b))
			}
			if err != nil {
				return
			}
			if len(frame) > limit {
				t.Fatalf("%d bytes", len(frame))
			}
			total = len(b) - r.Buffered()
		}
	})
}

func TestReadFrameRefuses(t *testing.T) {
	for _, tt := range []struct{ name, bytes, want string }{
		{"too long", "\x80\x80\x80\x80\x10", "frame of 4294967296 bytes, at most 100"},
		{"longest", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "frame of 18446744073709551615 bytes"},
		{"past 64 bits", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", "past 64 bits"},
		{"without end", strings.Repeat("\xff", 20), "past 64 bits"},
		{"cut length", "\x80", "length of a frame"},
		{"cut frame", "\x05abc", "frame of 5 bytes ends after 3"},
		{"no frame", "\x05", "frame of 5 bytes ends after 0"},
	} {
		_, err := readFrame(bufio.NewReader(strings.NewReader(tt.bytes)), 100)
		if !errors.Is(err, errMalformed) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// A length alone makes nobody allocate it.
func TestNoRoomForALengthAlone(t *testing.T) {
	r := bufio.NewReader(strings.NewReader("\x80\x80\x80\x80\x04" + strings.Repeat("x", 5000)))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := readFrame(r, math.MaxInt32)
	runtime.ReadMemStats(&after)
	if !errors.Is(err, errMalformed) {
		t.Errorf("read what is not there: %v", err)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > 10<<20 { // others allocate beside it
		t.Errorf("%d bytes allocated for 5000 that came of 1 GiB", n)
	}
}
