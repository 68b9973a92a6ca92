package record

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func TestRememberedChainsAreBounded(t *testing.T) {
	dir := t.TempDir()
	path := func(i int) string { return filepath.Join(dir, fmt.Sprint(i)) }
	add := func(i int) {
		t.Helper()
		if _, err := appendAudit(path(i), "", nil, false, &AuditRecord{Point: "x"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 2 * maxChains {
		add(i)
		if n := max(len(chains.by), len(chains.used)); n > maxChains {
			t.Fatalf("%d chains are remembered", n)
		}
	}
	if chains.by[path(2*maxChains-1)] == nil || chains.by[path(0)] != nil {
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
