package kill

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestTruncatedLogsCanBeContinued truncates the last line of a log at every byte, which a kill rarely does.
func TestTruncatedLogsCanBeContinued(t *testing.T) {
	for name, w := range map[string]writer{"audit.jsonl": auditLog, "notes.md": endlessNotes} {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			dir := filepath.Join(root, "0")
			write := func(version int) []byte { // like a new process
				t.Helper()
				write, err := w.open(dir, version)
				if err == nil {
					err = write(version)
				}
				if err != nil {
					t.Fatalf("version %d cannot be written: %v", version, err)
				}
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				return data
			}
			lines := [][]byte{nil}
			for v := 1; v <= 2; v++ {
				lines = append(lines, write(v))
			}
			for last := 1; last <= 2; last++ { // the only line, and a second one
				before, whole := lines[last-1], lines[last]
				for _, at := range positions(len(before)+1, len(whole)-1) {
					// A directory of its own, because a program remembers the ends of its logs.
					dir = filepath.Join(root, fmt.Sprintf("%d-%d", last, at))
					err := os.Mkdir(dir, 0o700)
					if err == nil {
						err = os.WriteFile(filepath.Join(dir, name), whole[:at], 0o600)
					}
					if err != nil {
						t.Fatal(err)
					}
					there, version := last-1, last
					if at == len(whole)-1 { // all but the line break
						there, version = last, last+1
					}
					if found, err := w.read(dir, 1); err != nil || len(found) > 0 && found[0] != there {
						t.Fatalf("cut at byte %d of line %d: %v, %v", at-len(before), last, found, err)
					}
					for range 2 {
						write(version)
						version++
					}
					if found, err := w.read(dir, 1); err != nil || !slices.Equal(found, []int{version - 1}) {
						t.Fatalf("cut at byte %d of line %d, and continued: %v, want version %d, %v", at-len(before), last, found,
							version-1, err)
					}
					if torn, err := w.torn(dir); err != nil || torn != last-there {
						t.Fatalf("cut at byte %d of line %d, and continued: %d unfinished lines, %v", at-len(before), last, torn, err)
					}
				}
			}
		})
	}
}

// positions returns numbers between from and to: those at both ends, and some between.
func positions(from, to int) []int {
	const edge = 12
	step := max(1, (to-from)/edge)
	var all []int
	for at := from; at <= to; at++ {
		if at-from < edge || to-at < edge || (at-from)%step == 0 {
			all = append(all, at)
		}
	}
	return all
}
