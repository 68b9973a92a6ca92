package record

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// chainedLine returns the line of a record with its link, including hash and newline, and the hash.
func chainedLine(r auditedEvent, link chainLink, key []byte) (line []byte, hash string, err error) {
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

// A chainLink is the place of an event in its log.
type chainLink struct {
	Log    string `json:"log"`              // identity of the log, the same in all its files
	Seq    uint64 `json:"seq"`              // starts at 1 and has no gaps
	Lost   int    `json:"lost,omitempty"`   // events lost directly before this one
	Torn   string `json:"torn,omitempty"`   // SHA-256 of incomplete lines before this one
	Broken string `json:"broken,omitempty"` // how the log was changed before this event, as its writer saw it
	Prev   string `json:"prev"`             // hash of the event before
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
	l, ok = cutHash(line)
	return l, ok && l.parse(line)
}

// cutHash parses the hash at the end of a line.
func cutHash(line []byte) (l chainLine, ok bool) {
	at := len(line) - len(hashField) - hashSize - len(`"}`)
	if at < 1 || !bytes.HasSuffix(line, []byte(`"}`)) {
		return l, false
	}
	field := string(line[at : at+len(hashField)])
	return chainLine{
		body: line[:at], hash: string(line[at+len(hashField) : len(line)-len(`"}`)]), keyed: field == hmacField,
	}, field == hashField || field == hmacField
}

// parse parses the link of a line, and reports whether the line is a record.
func (l *chainLine) parse(line []byte) bool {
	link, hash, ok := eventLink(line)
	l.chainLink = link
	return ok && link.Seq > 0 && hash == l.hash
}

func (l *chainLine) head() AuditHead { return AuditHead{Log: l.Log, Seq: l.Seq, Hash: l.hash} }

// verifies reports whether the hash of the line was made with the key.
func (l *chainLine) verifies(key []byte) bool {
	return l.keyed == (len(key) > 0) && hmac.Equal([]byte(chainHash(l.body, key)), []byte(l.hash))
}
