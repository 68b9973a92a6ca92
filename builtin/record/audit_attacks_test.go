package record

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// An attacker can write the file and has no key. It knows everything that was ever in the file, and other logs of the
// same key.
type attacker struct {
	t     *testing.T
	rand  *rand.Rand
	path  string
	seen  [][]byte // contents of the file at earlier times
	lines [][]byte // all lines of the file and of other logs of the key
}

func (a *attacker) read() []byte {
	data, err := os.ReadFile(a.path)
	if err != nil && !os.IsNotExist(err) {
		a.t.Fatal(err)
	}
	return data
}

// observe remembers the content of the file.
func (a *attacker) observe() {
	data := a.read()
	a.seen = append(a.seen, data)
	for line := range bytes.Lines(data) {
		a.lines = append(a.lines, line)
	}
}

func (a *attacker) write(data []byte) {
	if err := os.WriteFile(a.path, data, 0o600); err != nil {
		a.t.Fatal(err)
	}
}

// replace replaces the file by another one.
func (a *attacker) replace(data []byte) {
	other := a.path + ".other"
	if err := os.WriteFile(other, data, 0o600); err != nil {
		a.t.Fatal(err)
	}
	if err := os.Rename(other, a.path); err != nil {
		a.t.Fatal(err)
	}
}

func pick[T any](r *rand.Rand, from []T) (one T) {
	if len(from) > 0 {
		one = from[r.IntN(len(from))]
	}
	return one
}

// attack changes the file in one of many ways.
func (a *attacker) attack() {
	data := a.read()
	lines := slices.Collect(bytes.Lines(data))
	write := a.write
	if a.rand.IntN(3) == 0 {
		write = a.replace
	}
	at := 0
	if len(lines) > 0 {
		at = a.rand.IntN(len(lines))
	}
	line := pick(a.rand, a.lines)
	switch a.rand.IntN(16) {
	case 0: // another byte
		if len(data) > 0 {
			data[a.rand.IntN(len(data))] = byte(a.rand.IntN(256))
		}
		write(data)
	case 1: // a cut end, possibly within a line
		write(data[:a.rand.IntN(len(data)+1)])
	case 2: // a cut beginning
		write(data[a.rand.IntN(len(data)+1):])
	case 3: // without a line
		if len(lines) > 0 {
			lines = slices.Delete(lines, at, at+1)
		}
		write(bytes.Join(lines, nil))
	case 4: // two lines exchanged
		if len(lines) > 1 {
			lines[at], lines[0] = lines[0], lines[at]
		}
		write(bytes.Join(lines, nil))
	case 5: // an old line, or one of another log, at any place
		write(bytes.Join(slices.Insert(lines, at, line), nil))
	case 6: // the same at the end
		write(append(data, line...))
	case 7: // an older file
		write(pick(a.rand, a.seen))
	case 8: // the beginning of a line, as a writer leaves it that was killed
		write(append(data, line[:a.rand.IntN(len(line)+1)]...))
	case 9: // a text
		write(append(data, pick(a.rand, []string{"x", "\n", "\n\n", "{}\n", "null", "\x00\n", `{"protocol":`, "x\ny"})...))
	case 10: // a line with names that occur twice
		double := strings.Replace(string(line), `"point"`, `"seq":1,"SEQ":2,"prev":"","point"`, 1)
		write(bytes.Join(slices.Insert(lines, at, []byte(double)), nil))
	case 11: // a record without the key, which continues the last one
		forged := a.forged(data)
		write(append(data, forged...))
	case 12: // a hash of the wrong kind
		write(bytes.Replace(data, []byte(hmacField), []byte(hashField), 1))
	case 13: // the file is deleted
		if err := os.Remove(a.path); err != nil && !os.IsNotExist(err) {
			a.t.Fatal(err)
		}
	case 14: // an empty file
		write(nil)
	case 15: // line breaks of another system
		write(bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")))
	}
}

// forged returns a record with a hash without a key that continues the last record.
func (a *attacker) forged(data []byte) []byte {
	c := &auditChain{key: []byte("key")}
	end, _ := c.end(linesBackward(bytes.NewReader(data), int64(len(data))), "")
	line, _, _ := chainedLine(eventOf("forged"), chainLink{Log: end.Log, Seq: end.Seq + 1, Prev: end.Hash}, nil)
	return line
}

// TestDrawnAttacksOnALogAreFound writes records, and changes the file between them without the key. If
// VerifyAudit accepts the file with the head of the writer, the file has all records that were written, and no other.
// Without the head, records may be missing at the end.
func TestDrawnAttacksOnALogAreFound(t *testing.T) {
	key := []byte("key")
	dir := t.TempDir()
	const games = 500
	accepted, kept := 0, 0
	for n := range uint64(games) {
		r := rand.New(rand.NewPCG(1, n))
		path, other := filepath.Join(dir, fmt.Sprint(n), "log"), filepath.Join(dir, fmt.Sprint(n), "other")
		headFile := filepath.Join(dir, "heads", fmt.Sprint(n))
		a := &attacker{t: t, rand: r, path: path}
		var written []string
		chains := map[string]*auditChain{path: {key: key}, other: {key: key}}
		write := func(path, headFile, reason string) AuditHead {
			c := chains[path]
			err := c.append(t.Context(), auditFile{path: path}, headFile, eventOf(reason))
			head := c.head
			if err != nil && !errors.As(err, new(errNoticed)) {
				return head // the record is lost; the next one is written again
			}
			if headFile != "" {
				written = append(written, reason)
			}
			return head
		}
		for i := range 3 {
			write(other, "", fmt.Sprint("other ", i))
		}
		a.path = other
		a.observe()
		a.path = path
		var head AuditHead
		attacks := 0
		for i := range 2 + r.IntN(8) {
			head = write(path, headFile, fmt.Sprint(i))
			a.observe()
			for r.IntN(10) < 3 {
				a.attack()
				attacks++
			}
			if r.IntN(4) == 0 {
				chains[path] = &auditChain{key: key} // a new process
			}
		}
		data := a.read()
		_, err := VerifyAudit(bytes.NewReader(data), AuditCheck{Key: key, Head: head.Hash, Log: head.Log})
		_, prefix := VerifyAudit(bytes.NewReader(data), AuditCheck{Key: key, Log: head.Log})
		var found []string
		for e, err := range hooklog.Read(bytes.NewReader(data)) {
			if err == nil {
				found = append(found, e.Reason)
			}
		}
		switch {
		case attacks == 0 && err != nil:
			t.Errorf("game %d without an attack: %v", n, err)
		case err == nil && !slices.Equal(found, written):
			t.Errorf("game %d: a log with %q is accepted, %q were written:\n%s", n, found, written, data)
		case prefix == nil && (len(found) > len(written) || !slices.Equal(found, written[:len(found)])):
			t.Errorf("game %d: without the head, a log with %q is accepted, %q were written:\n%s", n, found, written, data)
		default:
			kept++
		}
		if err == nil {
			accepted++
		}
	}
	if accepted < games/10 || accepted > games*9/10 {
		t.Errorf("%d of %d logs are accepted; the game has no use", accepted, games)
	}
	t.Attr("tried", strconv.Itoa(games))
	t.Attr("kept", strconv.Itoa(kept))
}
