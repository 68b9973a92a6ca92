package record

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// A chainEnd is the end of a log that the next record continues.
type chainEnd struct {
	AuditHead
	torn   string // hash of the incomplete lines after the last record; "" if there are none
	open   bool   // the last line has no newline
	broken string // how the file differs from what its writers left; "": not at all
}

// next returns the link of the record that continues the end.
func (e chainEnd) next() chainLink {
	return chainLink{Log: e.Log, Seq: e.Seq + 1, Torn: e.torn, Broken: e.broken, Prev: e.Hash}
}

// end returns the end of the log, which is in a file of the given size.
func (c *auditChain) end(f *os.File, info os.FileInfo, size int64, headFile string, key []byte) (chainEnd, error) {
	if c.head.Log != "" {
		end, err := c.knownEnd(f, info, size, headFile, key)
		return end.compared(headFile), err
	}
	end, err := readChainEnd(f, size, key)
	return firstEnd(end, err, size == 0, headFile)
}

// firstEnd returns the end of a log whose writer has just started. It takes the end of the text in the log, or the
// error from looking for it, and compares it with the head file.
func firstEnd(end chainEnd, err error, isEmpty bool, headFile string) (chainEnd, error) {
	head, unreadable := readHead(headFile)
	switch {
	case unreadable != nil:
		return chainEnd{}, unreadable
	case head.Log == "":
		if err == nil && end.Log == "" {
			end.Log = newLogID()
		}
		return end, err
	case err != nil && !errors.Is(err, errForeign):
		return end, err
	case err != nil || end.Log != head.Log && end.Seq > 0:
		end.broken = "another log has replaced it"
	case isEmpty: // log rotation moved the file
	case end.Seq < head.Seq:
		end.broken = cutEnd(end.Seq, head.Seq)
	case end.Seq == head.Seq && end.Hash != head.Hash:
		end.broken = fmt.Sprintf("record %d is not the one in its head file", end.Seq)
	default:
		return end, nil // a crash may prevent the last write of the head
	}
	end.AuditHead = head
	return end, nil
}

// compared compares the end of a log whose writer runs with the head file. For example, another program wrote records
// and ended, and somebody removed them: this writer has never seen them. A head that cannot be read is reported when
// the next one is written.
func (e chainEnd) compared(headFile string) chainEnd {
	head, err := readHead(headFile)
	if err == nil && head.Log == e.Log && head.Seq > e.Seq && e.broken == "" {
		e.broken, e.AuditHead = cutEnd(e.Seq, head.Seq), head
	}
	return e
}

// cutEnd says that the records after end are missing, because the head file has the number of a later one.
func cutEnd(end, head uint64) string {
	return fmt.Sprintf("it ends with record %d, but its head file with %d: records were removed", end, head)
}

// knownEnd is end for a chain that knows its last record.
func (c *auditChain) knownEnd(
	f *os.File, info os.FileInfo, size int64, headFile string, key []byte,
) (chainEnd, error) {
	end := chainEnd{AuditHead: c.head}
	if size == 0 {
		return c.rotatedEnd(headFile)
	}
	if !os.SameFile(info, c.info) {
		return c.replacedEnd(f, size, key), nil
	}
	if size < c.size || !c.last.isAt(f, c.size) {
		end.open = !endsLine(f, size)
		end.broken = fmt.Sprintf("it no longer ends with record %d: records were removed or changed", c.head.Seq)
		return end, nil
	}
	if size == c.size {
		return end, nil
	}
	if size-c.size > maxTail {
		return c.replacedEnd(f, size, key), nil
	}
	added := make([]byte, size-c.size)
	if _, err := f.ReadAt(added, c.size); err != nil && !errors.Is(err, io.EOF) {
		return chainEnd{}, err
	}
	return continued(end, added, key), nil
}

// rotatedEnd returns the end of a log whose records log rotation has moved.
func (c *auditChain) rotatedEnd(headFile string) (chainEnd, error) {
	end := chainEnd{AuditHead: c.head}
	head, err := readHead(headFile)
	if head.Log == c.head.Log && head.Seq > c.head.Seq { // another process wrote to the moved file
		end.AuditHead = head
	}
	return end, err
}

// replacedEnd returns the end of a file that another writer of the same log began after a log rotation, or to which
// other writers added much.
func (c *auditChain) replacedEnd(f *os.File, size int64, key []byte) chainEnd {
	end, err := readChainEnd(f, size, key)
	if err == nil && (end.AuditHead == c.head || end.Log == c.head.Log && end.Seq > c.head.Seq) {
		return end
	}
	return chainEnd{
		AuditHead: c.head, open: !endsLine(f, size),
		broken: fmt.Sprintf("another file or text without record %d has replaced it", c.head.Seq),
	}
}

// isLink reports whether a path is a symbolic link.
func isLink(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode()&os.ModeSymlink != 0
}

// continued returns the end of a log after other writers added data to it. Each added line must be a record that
// continues the one before.
func continued(end chainEnd, added []byte, key []byte) chainEnd {
	known := end
	rest := added
	for len(rest) > 0 {
		line, next, whole := bytes.Cut(rest, []byte{'\n'})
		l, ok := parseChainLine(line)
		if !ok || !l.verifies(key) || l.Log != end.Log || l.Prev != end.Hash ||
			l.Seq != end.Seq+1 || l.Torn != "" {
			break
		}
		end.Seq, end.Hash, end.open, rest = l.Seq, l.hash, !whole, next
	}
	if len(rest) == 0 {
		return end
	}
	tail, ok := lastRecord(added, true, key)
	switch {
	case !ok:
		tail = chainEnd{AuditHead: end.AuditHead}
		tail.after(rest)
	case tail.Log != end.Log || tail.Seq <= known.Seq:
		tail = chainEnd{AuditHead: end.AuditHead, broken: "records that do not continue it were added"}
		tail.open = added[len(added)-1] != '\n'
	}
	return tail
}

// isAt reports whether the line ends at the position end of a file.
func (l lastLine) isAt(f io.ReaderAt, end int64) bool {
	line := make([]byte, l.size)
	if _, err := f.ReadAt(line, end-l.size); err != nil && !errors.Is(err, io.EOF) {
		return false
	}
	return sha256.Sum256(line) == l.hash
}

func endsLine(f io.ReaderAt, size int64) bool {
	var last [1]byte
	_, err := f.ReadAt(last[:], size-1)
	return err == nil && last[0] == '\n'
}

// newLogID returns the identity of a new log.
func newLogID() string {
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}

// Sizes of the end of a file that is searched for the last record, in bytes.
const (
	firstTail = 64 << 10
	maxTail   = maxAuditLine
)

var errForeign = errors.New("the log has no record that was written with this key; name another log, or set the key " +
	"of this one")

// readChainEnd finds the last record in a file that was written with the key.
func readChainEnd(f io.ReaderAt, size int64, key []byte) (chainEnd, error) {
	for tail := int64(firstTail); size > 0; tail *= 2 {
		tail = min(tail, size)
		data := make([]byte, tail)
		if _, err := f.ReadAt(data, size-tail); err != nil && !errors.Is(err, io.EOF) {
			return chainEnd{}, err
		}
		end, ok := lastRecord(data, tail == size, key)
		switch {
		case ok:
			return end, nil
		case tail == size && isPartial(data): // every writer so far was killed
			end.after(data)
			return end, nil
		case tail == size || tail >= maxTail:
			return chainEnd{open: data[len(data)-1] != '\n'}, errForeign
		}
	}
	return chainEnd{}, nil
}

// isPartial reports whether each line of data is the beginning of a record, as left by writers that were killed. A
// complete line without a hash is not: somebody else has written it.
func isPartial(data []byte) bool {
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if n := min(len(line), len(eventBeginning)); string(line[:n]) != eventBeginning[:n] || json.Valid(line) && n > 0 {
			return false
		}
	}
	return true
}

// eventBeginning is the beginning of each line of a log.
const eventBeginning = `{"protocol":`

// lastRecord finds the last record in the end of a file that was written with the key. If whole, data is the complete
// file.
func lastRecord(data []byte, whole bool, key []byte) (end chainEnd, ok bool) {
	for to := len(data); to > 0; {
		from := bytes.LastIndexByte(data[:to], '\n') + 1
		if from == 0 && !whole {
			return end, false
		}
		if l, ok := parseChainLine(data[from:to]); ok && l.verifies(key) {
			end.AuditHead = AuditHead{Log: l.Log, Seq: l.Seq, Hash: l.hash}
			end.after(bytes.TrimPrefix(data[to:], []byte{'\n'}))
			end.open = data[len(data)-1] != '\n'
			return end, true
		}
		to = from - 1
	}
	return end, false
}

// after notes the data after the last record: incomplete lines of killed writers, or lines that somebody else added.
func (e *chainEnd) after(data []byte) {
	if len(data) == 0 {
		return
	}
	e.open = data[len(data)-1] != '\n'
	if isPartial(data) {
		e.torn = tornHash(data)
	} else {
		e.broken = "lines that are not its records were added"
	}
}

// tornHash returns the hash with which a record confirms the incomplete lines before it.
func tornHash(data []byte) string {
	data = bytes.Trim(data, "\n")
	if len(data) == 0 {
		return ""
	}
	return chainHash(data, nil)
}
