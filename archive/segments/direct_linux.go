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
	newBlocks = mapBlocks
}

// mapBlocks is newBlocks with one huge page where the system gives any. It lies in one
// piece, so that a write of it is one request with one address, not one for each of
// its 4 KiB pages.
func mapBlocks() ([]byte, func() error) {
	mapped, err := unix.Mmap(-1, 0, 2*blocksBytes, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return heapBlocks() // slower
	}
	b := blocksIn(mapped, blocksBytes)
	_ = unix.Madvise(b, unix.MADV_HUGEPAGE) // an older kernel gives small pages
	return b, func() error { return unix.Munmap(mapped) }
}
