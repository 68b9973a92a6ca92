package record

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestRememberedChainsAreBounded(t *testing.T) {
	dir := t.TempDir()
	path := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	add := func(i int) {
		t.Helper()
		if _, err := appendAudit(path(i), "", nil, false, eventOf("x")); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 * maxChains {
		add(i)
		if n := len(chains.used); n > maxChains {
			t.Fatalf("%d chains are remembered", n)
		}
	}
	remembers := func(i int) bool {
		return slices.ContainsFunc(chains.used, func(c *auditChain) bool { return c.path == path(i) })
	}
	if !remembers(2*maxChains-1) || remembers(0) {
		t.Error("the chain that was used last is forgotten, or the first is not")
	}
	add(0) // its end is read again
	data, err := os.ReadFile(path(0))
	if err != nil {
		t.Fatal(err)
	}
	if state, err := VerifyAudit(bytes.NewReader(data), AuditCheck{}); err != nil || state.Records != 2 {
		t.Errorf("the chain is broken: %+v, %v", state, err)
	}
}

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
			_, err := appendAudit(a.Path, "", nil, a.Sync, eventOf("x"))
			if errors.Is(err, full) != sync || (synced == 1) != sync {
				t.Errorf("synchronized %d times, %v", synced, err)
			}
		})
	}
}
