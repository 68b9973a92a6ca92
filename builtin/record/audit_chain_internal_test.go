package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestRecordsAreOnDiskIfAsked(t *testing.T) {
	for _, sync := range []bool{true, false} {
		t.Run(fmt.Sprint(sync), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "log")
			full, synced := errors.New("disk full"), 0
			syncFile = func(f *os.File) error {
				synced++
				if data, err := os.ReadFile(path); !bytes.HasSuffix(data, []byte("}\n")) || err != nil {
					t.Errorf("before the line was written, the file was synchronized: %q, %v", data, err)
				}
				return full
			}
			defer func() { syncFile = (*os.File).Sync }()
			a := &Audit{Path: path, Sync: sync}
			err := a.append(t.Context(), eventOf("x"))
			if errors.Is(err, full) != sync || (synced == 1) != sync {
				t.Errorf("synchronized %d times, %v", synced, err)
			}
		})
	}
}
