package record

import (
	"bytes"
	"slices"
	"strconv"
	"testing"
)

// TestEveryChangeOfALogIsFound changes each byte of a log in several ways, and each line. VerifyAudit must find all of
// it with the key and the head.
func TestEveryChangeOfALogIsFound(t *testing.T) {
	key := []byte("key")
	log := auditOf(key, "one", "two", "three", "four")
	whole, err := VerifyAudit(bytes.NewReader(log), AuditCheck{Key: key})
	if err != nil {
		t.Fatal(err)
	}
	check := AuditCheck{Key: key, Head: whole.Hash, Log: whole.Log}
	tried, found := 0, 0
	try := func(t *testing.T, changed []byte) {
		tried++
		if _, err := VerifyAudit(bytes.NewReader(changed), check); err != nil {
			found++
			return
		}
		t.Errorf("%q is accepted as %q", changed, log)
	}
	last := len(log) - 1 // the last newline may be missing
	t.Run("bytes", func(t *testing.T) {
		for at := range last {
			for _, to := range []byte{log[at] ^ 1, log[at] ^ 0x20, ' ', '\n', '"', '0'} {
				if to != log[at] {
					changed := bytes.Clone(log)
					changed[at] = to
					try(t, changed)
				}
			}
			try(t, slices.Delete(bytes.Clone(log), at, at+1))
			if at > 0 && log[at] != '\n' && log[at-1] != '\n' { // VerifyAudit skips empty lines
				try(t, slices.Insert(bytes.Clone(log), at, '\n'))
			}
			try(t, slices.Insert(bytes.Clone(log), at, 'x'))
			try(t, log[:at])
		}
	})
	lines := bytes.SplitAfter(log[:last], []byte("\n"))
	lines[3] = append(bytes.Clone(lines[3]), '\n')
	other := bytes.SplitAfter(auditOf(key, "another", "log"), []byte("\n"))[:2]
	unkeyed := bytes.SplitAfter(auditOf(nil, "one", "two", "three", "four"), []byte("\n"))[:4]
	t.Run("lines", func(t *testing.T) {
		for i := range lines {
			try(t, bytes.Join(slices.Delete(slices.Clone(lines), i, i+1), nil))
			for j := range lines {
				try(t, bytes.Join(slices.Insert(slices.Clone(lines), i, lines[j]), nil))
				if i < j {
					swapped := slices.Clone(lines)
					swapped[i], swapped[j] = swapped[j], swapped[i]
					try(t, bytes.Join(swapped, nil))
				}
			}
			for _, line := range slices.Concat(other, unkeyed) {
				try(t, bytes.Join(slices.Insert(slices.Clone(lines), i, line), nil))
				try(t, bytes.Join(slices.Replace(slices.Clone(lines), i, i+1, line), nil))
			}
			try(t, bytes.Join(append(slices.Clone(lines[:i]), unkeyed[i:]...), nil))
		}
	})
	t.Attr("tried", strconv.Itoa(tried))
	t.Attr("kept", strconv.Itoa(found))
}
