package record

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"github.com/hookgen/hookgen/internal/atomicfile"
)

// An auditChain appends records to a file, each with the hash of the record before.
//
// After the first record, the chain knows the end of its log: number and hash of the last record, the size of the file
// and its last line. Before each record it compares the file with them, because somebody may write to the file
// meanwhile. It never takes a number or a hash from the file that it did not verify.
type auditChain struct {
	head AuditHead         // the last record of the log; a zero Log: unknown
	key  [sha256.Size]byte // hash of the key of the last record
	info os.FileInfo
	size int64    // of the file after the last record
	last lastLine // at the end of the file
}

// A lastLine recognises a line without keeping it.
type lastLine struct {
	size int64
	hash [sha256.Size]byte
}

// errNoticed is a problem that append noticed. The record is written nevertheless.
type errNoticed struct{ error }

// A chainStore remembers the chains of the logs to which this program writes, so that all its Audits of a log continue
// one chain, also after log rotation. It forgets the chain that was not used for the longest time when it holds
// maxChains of them; an Audit that returns to such a log reads its end like a new program.
type chainStore struct {
	mu   sync.Mutex
	by   map[string]*auditChain // by absolute path
	used map[string]uint64      // when each chain was used
	uses uint64
}

const maxChains = 256

var chains chainStore

// of returns the chain of a log. The caller holds the lock of its path.
func (s *chainStore) of(path string) *auditChain {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.by == nil {
		s.by, s.used = make(map[string]*auditChain), make(map[string]uint64)
	}
	if s.by[path] == nil {
		if len(s.by) >= maxChains {
			oldest := path
			for other, at := range s.used {
				if oldest == path || at < s.used[oldest] {
					oldest = other
				}
			}
			delete(s.by, oldest)
			delete(s.used, oldest)
		}
		s.by[path] = new(auditChain)
	}
	s.uses++
	s.used[path] = s.uses
	return s.by[path]
}

var syncFile = (*os.File).Sync // replaced in tests

// appendAudit writes one record to the log at path. See auditChain.append.
func appendAudit(path, headFile string, key []byte, flush bool, r chainable) (AuditHead, error) {
	unlock := atomicfile.LockSharedBriefly(path)
	defer unlock()
	c := chains.of(path)
	err := c.append(path, headFile, key, flush, r)
	return c.head, err
}

// append writes one record in one write. If somebody changed the file, the record continues the chain that the writer
// remembers and describes the change, and append returns an errNoticed.
func (c *auditChain) append(path, headFile string, key []byte, flush bool, r chainable) (err error) {
	errLink := errors.New("the log is a link; nothing is written to its target: remove the link, or name the target")
	if isLink(path) {
		return errLink
	}
	f, size, err := atomicfile.OpenAppend(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if isLink(path) { // since the check above
		return errLink
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end, err := c.end(f, info, size, headFile, key)
	switch {
	case err != nil:
		return err
	case c.head.Log != "" && size > 0 && c.key != sha256.Sum256(key):
		return errors.New("another Audit of this program writes the log with another key; use one key, or another file")
	}
	link := end.next()
	line, hash, err := chainedLine(r, link, key)
	if err != nil {
		return err
	}
	if end.open {
		line = append([]byte{'\n'}, line...)
	}
	if err = atomicfile.WriteEnd(f, size, line); err != nil {
		return err
	}
	if flush {
		if err = syncFile(f); err != nil {
			return err
		}
	}
	*c = auditChain{
		head: AuditHead{Log: link.Log, Seq: link.Seq, Hash: hash}, key: sha256.Sum256(key), info: info,
		size: size + int64(len(line)),
		last: lastLine{int64(len(line)), sha256.Sum256(line)},
	}
	if headFile != "" {
		if err = writeHead(headFile, c.head); err != nil {
			return errNoticed{fmt.Errorf("the head of a record is not written: %w", err)}
		}
	}
	if end.broken != "" {
		return changedError(link)
	}
	return nil
}

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

// changedError returns the error for a record that says that the log was changed before it.
func changedError(link chainLink) error {
	return errNoticed{fmt.Errorf("the log was changed: %s; record %d says so, see AuditRecord.Broken", link.Broken,
		link.Seq)}
}

// chainedLine returns the line of a record with its link, including hash and newline, and the hash.
func chainedLine(r chainable, link chainLink, key []byte) (line []byte, hash string, err error) {
	line, hash = chained(r.linked(link), key)
	if len(line) > maxAuditLine {
		err = fmt.Errorf("the record has %d bytes, more than %d; shorten its texts, for example with MaxChars", len(line),
			maxAuditLine)
	}
	return line, hash, err
}

// chained returns the line of a record, including hash and newline, and the hash.
func chained(record []byte, key []byte) (line []byte, hash string) {
	body := bytes.TrimSuffix(record, []byte("}"))
	hash = chainHash(body, key)
	name := hashField
	if len(key) > 0 {
		name = hmacField
	}
	line = append(bytes.Clone(body), name...)
	line = append(line, hash...)
	return append(line, "\"}\n"...), hash
}

const (
	hashField = `,"hash":"`
	hmacField = `,"hmac":"`
	hashSize  = 2 * sha256.Size
)

func chainHash(body, key []byte) string {
	if len(key) == 0 {
		sum := sha256.Sum256(body)
		return hex.EncodeToString(sum[:])
	}
	mac := hmac.New(sha256.New, key)
	mac.Write(body)
	return hex.EncodeToString(mac.Sum(nil))
}

// A chainable is a record that an auditChain can append: an [AuditRecord] or an event.
type chainable interface {
	// linked returns the record as a JSON object that contains the link.
	linked(link chainLink) []byte
}

// A chainLink is the place of a record in its log. The fields are those of AuditRecord.
type chainLink struct {
	Log    string `json:"log"`
	Seq    uint64 `json:"seq"`
	Lost   int    `json:"lost,omitempty"`
	Torn   string `json:"torn,omitempty"`
	Broken string `json:"broken,omitempty"`
	Prev   string `json:"prev"`
}

// A chainLine is a parsed line.
type chainLine struct {
	chainLink
	body  []byte // the hashed part
	hash  string
	keyed bool
}

// parseChainLine parses a line. It returns false if the line is not an audit record.
func parseChainLine(line []byte) (l chainLine, ok bool) {
	at := len(line) - len(hashField) - hashSize - len(`"}`)
	if at < 1 || !bytes.HasSuffix(line, []byte(`"}`)) {
		return l, false
	}
	switch field := string(line[at : at+len(hashField)]); field {
	case hashField, hmacField:
		l.keyed = field == hmacField
	default:
		return l, false
	}
	l.body, l.hash = line[:at], string(line[at+len(hashField):len(line)-len(`"}`)])
	var hash string
	if bytes.HasPrefix(line, []byte(eventBeginning)) {
		l.chainLink, hash, ok = eventLink(line)
	} else {
		var r AuditRecord
		ok = json.Unmarshal(line, &r) == nil
		l.chainLink, hash = chainLink{r.Log, r.Seq, r.Lost, r.Torn, r.Broken, r.Prev}, r.Hash+r.HMAC
	}
	return l, ok && l.Seq > 0 && hash == l.hash
}

// verifies reports whether the hash of the line was made with the key.
func (l *chainLine) verifies(key []byte) bool {
	return l.keyed == (len(key) > 0) && hmac.Equal([]byte(chainHash(l.body, key)), []byte(l.hash))
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
		if !begins(line, recordBeginning) && !begins(line, eventBeginning) || json.Valid(line) && len(line) > 0 {
			return false
		}
	}
	return true
}

// The beginnings of the lines of a log.
const (
	recordBeginning = `{"time":"`
	eventBeginning  = `{"protocol":`
)

// begins reports whether a line has the beginning, or is shorter and a part of it.
func begins(line []byte, beginning string) bool {
	n := min(len(line), len(beginning))
	return string(line[:n]) == beginning[:n]
}

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
