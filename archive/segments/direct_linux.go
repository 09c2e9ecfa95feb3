package segments

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

func init() {
	aroundCache = syscall.O_DIRECT
	dropCache = func(f *os.File) error {
		return unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED)
	}
}
