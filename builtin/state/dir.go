package state

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// Dir is a store that keeps each value in a file of its own. The directory is created by the first Put.
//
// A key may be any text up to a length limit; it is encoded as a file name in the directory, with the extension
// ".json". Values are replaced atomically and are readable only by their owner. If the program is killed during a
// write, the old value remains, and so does a temporary file with the extension ".hook-tmp". A later write removes
// temporary files that are more than an hour old. Files with other names are ignored.
//
// Dir is safe for concurrent use, also by several programs.
type Dir struct {
	Path string // the directory; required
}

var _ agent.Store = Dir{}

const storeExt = ".json"

// Get returns the value of a key, or a *agent.NotFound.
func (s Dir) Get(ctx context.Context, key string) ([]byte, error) {
	path, err := s.path(ctx, key)
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &agent.NotFound{Key: key}
	}
	return data, err
}

// Put stores the value of a key.
func (s Dir) Put(ctx context.Context, key string, value []byte) error {
	path, err := s.path(ctx, key)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, value)
}

// Delete removes a key and its value. A missing key is not an error.
func (s Dir) Delete(ctx context.Context, key string) error {
	path, err := s.path(ctx, key)
	if err != nil {
		return err
	}
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Keys returns the keys that begin with prefix, sorted.
func (s Dir) Keys(ctx context.Context, prefix string) ([]string, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(s.Path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var keys []string
	for _, e := range entries {
		name, ours := strings.CutSuffix(e.Name(), storeExt)
		if key, ok := atomicfile.DecodeName(name); ours && ok && e.Type().IsRegular() {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keysWith(keys, prefix), nil
}

func (s Dir) usable(ctx context.Context) error {
	if s.Path == "" {
		return errors.New("the store has no directory; set Path")
	}
	return ctx.Err()
}

func (s Dir) path(ctx context.Context, key string) (string, error) {
	if err := s.usable(ctx); err != nil {
		return "", err
	}
	name, err := atomicfile.EncodeName(key)
	if err != nil {
		return "", fmt.Errorf("the key cannot be used: %w", err)
	}
	return filepath.Join(s.Path, name+storeExt), nil
}

// keepBackup copies a corrupt value to a new file next to it before another value replaces it. If an earlier program
// was killed after making the same copy, that copy is reused.
func (s Dir) keepBackup(ctx context.Context, key string, corrupt []byte) error {
	path, err := s.path(ctx, key)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		backup := fmt.Sprintf("%s.corrupt-%d", path, n)
		info, err := os.Lstat(backup)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return atomicfile.Write(backup, corrupt)
		case err != nil:
			return err
		case !info.Mode().IsRegular() || info.Size() != int64(len(corrupt)):
			continue
		}
		if kept, err := os.ReadFile(backup); err == nil && bytes.Equal(kept, corrupt) {
			return nil
		}
	}
}
