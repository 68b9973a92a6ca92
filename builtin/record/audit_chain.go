package record

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

// An auditChain appends records to a file, each with the hash of the record before.
type auditChain struct {
	known bool        // the fields below describe the current end of the file
	info  os.FileInfo // of the file
	size  int64
	seq   uint64
	hash  string // of the last record
}

// append writes one record in one write. It first finds the end of the chain if something else was appended in the
// meantime.
func (c *auditChain) append(path string, key []byte, sync bool, r *AuditRecord) (err error) {
	defer atomicfile.Lock(path)()
	f, size, err := atomicfile.OpenAppend(path)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
		if err != nil {
			c.known = false // the line may be incomplete
		}
	}()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	end := chainEnd{seq: c.seq, hash: c.hash}
	if size > 0 && !(c.known && size == c.size && os.SameFile(info, c.info)) {
		if end, err = readChainEnd(f, size); err != nil {
			return err
		}
	}
	r.Seq, r.Prev, r.Torn = end.seq+1, end.hash, end.torn
	body := jsonx.Encode(r)
	line, hash := chained(body, key)
	if end.open {
		line = append([]byte{'\n'}, line...)
	}
	if _, err = f.Write(line); err != nil {
		return err
	}
	if sync {
		if err = f.Sync(); err != nil {
			return err
		}
	}
	*c = auditChain{known: true, info: info, size: size + int64(len(line)), seq: r.Seq, hash: hash}
	return nil
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

// A chainLine is a parsed line.
type chainLine struct {
	body   []byte // the hashed part
	hash   string
	keyed  bool
	record AuditRecord
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
	if json.Unmarshal(line, &l.record) != nil || l.record.Seq == 0 || l.record.Hash+l.record.HMAC != l.hash {
		return l, false
	}
	return l, true
}

// A chainEnd describes the last record in a file.
type chainEnd struct {
	seq  uint64
	hash string
	torn string // hash of the lines after the last record; "" if there are none
	open bool   // the last line has no newline
}

// Sizes of the end of a file that is searched for the last record, in bytes.
const (
	firstTail = 64 << 10
	maxTail   = 64 << 20
)

var errForeign = errors.New("the file has other content than an audit log; name another one")

// readChainEnd finds the last record of a file that is not empty.
func readChainEnd(f io.ReaderAt, size int64) (chainEnd, error) {
	for tail := int64(firstTail); ; tail *= 2 {
		tail = min(tail, size)
		data := make([]byte, tail)
		if _, err := f.ReadAt(data, size-tail); err != nil && !errors.Is(err, io.EOF) {
			return chainEnd{}, err
		}
		end, ok := lastRecord(data, tail == size)
		switch {
		case ok:
			return end, nil
		case tail == size && isPartial(data):
			// All lines are incomplete: every writer so far was killed.
			return chainEnd{torn: tornHash(data), open: data[len(data)-1] != '\n'}, nil
		case tail == size || tail >= maxTail:
			return chainEnd{}, errForeign
		}
	}
}

// isPartial reports whether each line of data is the beginning of a record, as left by writers that were killed.
func isPartial(data []byte) bool {
	beginning := []byte(`{"time":"`)
	for line := range bytes.SplitSeq(data, []byte{'\n'}) {
		if n := min(len(line), len(beginning)); !bytes.Equal(line[:n], beginning[:n]) {
			return false
		}
	}
	return true
}

// lastRecord finds the last record in the end of a file. If whole, data is the complete file.
func lastRecord(data []byte, whole bool) (end chainEnd, ok bool) {
	if len(data) == 0 {
		return end, false
	}
	end.open = data[len(data)-1] != '\n'
	for to := len(data); to > 0; {
		from := bytes.LastIndexByte(data[:to], '\n') + 1
		if from == 0 && !whole {
			return end, false
		}
		if l, ok := parseChainLine(data[from:to]); ok {
			end.seq, end.hash, end.torn = l.record.Seq, l.hash, tornHash(bytes.TrimPrefix(data[to:], []byte{'\n'}))
			return end, true
		}
		to = from - 1
	}
	return end, false
}

// tornHash returns the hash with which a record confirms the incomplete lines before it.
func tornHash(data []byte) string {
	data = bytes.Trim(data, "\n")
	if len(data) == 0 {
		return ""
	}
	return chainHash(data, nil)
}
