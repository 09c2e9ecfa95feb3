package bare

import (
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/msgpath/msgpath/message/pb"
)

func TestDecode(t *testing.T) {
	if err := proto.Unmarshal(nil, new(pb.WakuMessage)); err != nil {
		t.Fatal(err)
	}
}
