package peer

import (
	"runtime/debug"
	"syscall"
)

// What a library allocates for a number in hostile bytes ends in the same way on every machine: the address
// space that a Go program needs for itself is near 1 GiB, and what a case may need is far below the rest.
const addressSpace = 2 << 30

func init() {
	debug.SetMemoryLimit(addressSpace / 4)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		panic(err)
	}
	limit.Cur = min(limit.Cur, addressSpace)
	if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
		panic(err)
	}
}
