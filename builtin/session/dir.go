package session

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/atomicfile"
	"github.com/hookgen/hookgen/internal/filename"
)

// Dir is a store that keeps each value in a file of its own. The directory is created by the first Put.
//
// A key may be any text. It is encoded as a file name in the directory, with the extension ".json". If the name would
// be too long, it has a hash instead and the extension ".keyed"; then the first line of the file is the key as a Go
// string, and the value follows. Values are replaced atomically and are readable only by their owner. If the program is
// killed during a write, the old value remains, and so does a temporary file with the extension ".hook-tmp". A later
// write removes temporary files that are more than an hour old. Files with other names are ignored.
//
// Dir is safe for concurrent use, also by several programs.
type Dir struct {
	Path string // the directory; required
}

var _ SwapStore = Dir{}

const (
	storeExt = ".json"
	keyedExt = ".keyed" // of a file that begins with its key
)

// Get returns the value of a key, or a *agent.NotFound.
func (s Dir) Get(ctx context.Context, key string) ([]byte, error) {
	path, err := s.path(ctx, key)
	if err != nil {
		return nil, err
	}
	return valueIn(path, key)
}

// valueIn returns the value of a key from its file.
func valueIn(path, key string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &agent.NotFound{Key: key}
	}
	if err != nil || filepath.Ext(path) != keyedExt {
		return data, err
	}
	value, ok := bytes.CutPrefix(data, keyLine(key))
	if !ok {
		return nil, fmt.Errorf("the file %s is corrupt: its first line is not the key; delete it", path)
	}
	return value, nil
}

// Put stores the value of a key.
func (s Dir) Put(ctx context.Context, key string, value []byte) error {
	path, err := s.path(ctx, key)
	if err != nil {
		return err
	}
	if filepath.Ext(path) == keyedExt {
		value = append(keyLine(key), value...)
	}
	return atomicfile.Write(path, value)
}

// keyLine returns the first line of a file that begins with its key.
func keyLine(key string) []byte { return append(strconv.AppendQuote(nil, key), '\n') }

// keyIn returns the key in the first line of a file, or "" if the line is not a key.
func keyIn(path string) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	line, _ := bufio.NewReader(f).ReadString('\n')
	key, _ := strconv.Unquote(strings.TrimSuffix(line, "\n"))
	if line != string(keyLine(key)) {
		return ""
	}
	return key
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

// Swap implements [SwapStore]. It locks the directory against the Swap of other programs, with the file ".swap.lock".
// If a program stops meanwhile, they wait for it; if it is killed, they do not. Systems without file locks lock out the
// same program only.
func (s Dir) Swap(ctx context.Context, key string, old, value []byte) (swapped bool, err error) {
	if _, err := s.path(ctx, key); err != nil {
		return false, err
	}
	unlock, err := atomicfile.LockShared(filepath.Join(s.Path, "swap"))
	if err != nil {
		return false, err
	}
	defer unlock()
	was, err := s.Get(ctx, key)
	missing := errors.As(err, new(*agent.NotFound))
	if err != nil && !missing {
		return false, err
	}
	if missing != (old == nil) || !bytes.Equal(was, old) {
		return false, nil
	}
	if value == nil {
		err = s.Delete(ctx, key)
	} else {
		err = s.Put(ctx, key, value)
	}
	return err == nil, err
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
		if !e.Type().IsRegular() {
			continue
		}
		name, ours := strings.CutSuffix(e.Name(), storeExt)
		if key, ok := filename.Decode(name); ours && ok {
			keys = append(keys, key)
		}
		if name, keyed := strings.CutSuffix(e.Name(), keyedExt); keyed {
			if key := keyIn(filepath.Join(s.Path, e.Name())); key != "" && filename.Of(key) == name {
				keys = append(keys, key)
			}
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
	if key == "" {
		return "", errNoKey
	}
	name := filename.Of(key)
	if _, ok := filename.Decode(name); !ok {
		return filepath.Join(s.Path, name+keyedExt), nil
	}
	return filepath.Join(s.Path, name+storeExt), nil
}
