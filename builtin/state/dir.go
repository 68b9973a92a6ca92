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

// A Dir is a store with a file for each key in a directory, which is made when it is needed. A key may be
// any text that is not too long: it becomes a file name that leads nowhere else, with ".json" behind it. A value
// is written whole or not at all and is readable by its owner alone. Files that it did not name are left alone. A
// program that is killed while it writes leaves the old value, and a file of its own with the ending ".hook-tmp", which
// is no value and is removed by the first write an hour later or more.
type Dir struct {
	Path string
}

var _ agent.Store = Dir{}

const storeExt = ".json"

// Get reads the value under a key; a *agent.NotFound if there is none.
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

// Put writes the value under a key.
func (s Dir) Put(ctx context.Context, key string, value []byte) error {
	path, err := s.path(ctx, key)
	if err != nil {
		return err
	}
	return atomicfile.Write(path, value)
}

// Delete removes the value under a key.
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

// Keys returns the keys that begin with a prefix, sorted.
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

// keepBeside copies what is under a key to a file beside it, so that it is not lost when another value is put there. A
// copy that is there already, of a program that was killed before it put the value, is enough.
func (s Dir) keepBeside(ctx context.Context, key string, is []byte) error {
	path, err := s.path(ctx, key)
	if err != nil {
		return err
	}
	for n := 1; ; n++ {
		beside := fmt.Sprintf("%s.corrupt-%d", path, n)
		info, err := os.Lstat(beside)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return atomicfile.Write(beside, is)
		case err != nil:
			return err
		case !info.Mode().IsRegular() || info.Size() != int64(len(is)):
			continue
		}
		if kept, err := os.ReadFile(beside); err == nil && bytes.Equal(kept, is) {
			return nil
		}
	}
}
