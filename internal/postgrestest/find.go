package postgrestest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// installed is where Debian puts the servers that are installed.
var installed = "/usr/lib/postgresql/*/bin/initdb"

// errNone is why there is no server to start.
var errNone = errors.New("PostgreSQL is not installed: no /usr/lib/postgresql/*/bin/initdb, and none in PATH")

// binaries returns the folder of the newest server that is installed.
func binaries() (string, error) {
	found, _ := filepath.Glob(installed) // its error is of the pattern
	newest, at := -1, ""
	for _, f := range found {
		bin := filepath.Dir(f)
		if v, err := strconv.Atoi(filepath.Base(filepath.Dir(bin))); err == nil && v > newest {
			newest, at = v, bin
		}
	}
	if at != "" {
		return at, nil
	}
	if f, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(f), nil
	}
	return "", errNone
}

// owner returns as whom a server is to run: nil as this process, unless that is
// root.
func owner() (*syscall.Credential, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, errUID := strconv.ParseUint(u.Uid, 10, 32)
		gid, errGID := strconv.ParseUint(u.Gid, 10, 32)
		if err := errors.Join(errUID, errGID); err != nil {
			return nil, fmt.Errorf("user %s: %w", name, err)
		}
		return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
	}
	return nil, errors.New("PostgreSQL refuses to run as root, and there is no user postgres or nobody")
}

// attributes returns how a process of the server's is started. Linux adds to it.
var attributes = func(owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: owner}
}
