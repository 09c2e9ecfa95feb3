package main

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/libp2p/go-libp2p/core/crypto"
)

// maxIdentity bounds what is read of an identity file, in bytes. The largest
// key, RSA of 8192 bits, takes less than 5,000.
const maxIdentity = 16 << 10

// identity returns the private key in the file called name, which it creates
// if it is not there. It never changes a file that is.
func identity(name string, logger *slog.Logger) (crypto.PrivKey, error) {
	key, mode, err := loadIdentity(name)
	if errors.Is(err, fs.ErrNotExist) {
		key, err = createIdentity(name)
		if err == nil {
			logger.Info("identity created", "file", name)
			return key, nil
		}
		if errors.Is(err, fs.ErrExist) { // another process was faster
			key, mode, err = loadIdentity(name)
		}
	}
	if err == nil && mode&0o077 != 0 {
		logger.Warn("identity file is open to others: want mode 0600", "file", name, "mode", mode.String())
	}
	return key, err
}

// loadIdentity returns the key in the file called name, and the file's
// permissions.
func loadIdentity(name string) (crypto.PrivKey, fs.FileMode, error) {
	data, mode, err := readIdentity(name)
	if err != nil {
		return nil, 0, fmt.Errorf("read identity file %q: %w", name, err)
	}
	key, err := crypto.UnmarshalPrivateKey(data)
	if err != nil {
		return nil, 0, fmt.Errorf("read identity file %q: not a libp2p private key: %w", name, err)
	}
	return key, mode.Perm(), nil
}

func readIdentity(name string) ([]byte, fs.FileMode, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, 0, err
	}
	if !info.Mode().IsRegular() {
		return nil, 0, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxIdentity+1))
	switch {
	case err != nil:
		return nil, 0, err
	case len(data) == 0:
		return nil, 0, errors.New("empty: not a libp2p private key")
	case len(data) > maxIdentity:
		return nil, 0, fmt.Errorf("over %d bytes: not a libp2p private key", maxIdentity)
	}
	return data, info.Mode(), nil
}

// createIdentity writes a new Ed25519 key to a file of its own and then gives
// it its name, so that nobody ever reads a part of it and a file of that name is
// never replaced: then the error wraps fs.ErrExist.
func createIdentity(name string) (crypto.PrivKey, error) {
	key, _, err := crypto.GenerateEd25519Key(rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("make identity: %w", err)
	}
	data, err := crypto.MarshalPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("make identity: %w", err)
	}
	if err := writeNew(name, data); err != nil {
		return nil, fmt.Errorf("create identity file %q: %w", name, err)
	}
	return key, nil
}

func writeNew(name string, data []byte) (err error) {
	dir := filepath.Dir(name)
	f, err := os.CreateTemp(dir, ".identity-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(f.Name())) }()
	_, err = f.Write(data)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Link(f.Name(), name); err != nil {
		return err
	}
	return syncDir(dir)
}

// syncDir makes the name of a new file outlast a crash of the machine.
func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
