package bench

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	fixedHeap = 1 << 20
	os.Exit(m.Run())
}
