package record

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
)

// AuditCheck holds the expectations of [VerifyAudit]. The zero value suits a log that was written without a key and is
// the first of its chain.
type AuditCheck struct {
	Key   []byte // key of the log; empty: no key
	After string // hash that the first record continues, for a log that continues a rotated one; "": the chain starts here
	Head  string // expected hash of the last record, noted elsewhere; "": any
	Log   string // expected identity of the log, noted elsewhere; "": any
}

// AuditState describes a verified log.
type AuditState struct {
	Records int
	Log     string // identity of the log
	Seq     uint64 // number of the last record
	Hash    string // hash of the last record; note it elsewhere to detect later truncation
	Lost    int    // records that could not be written
	Torn    int    // incomplete lines that the next record confirms
}

// VerifyAudit checks the chain of an audit log. Each record must have a correct hash, belong to the same log, continue
// the record before, and have the next number. The error lists up to 20 problems: changed lines, places where lines
// were removed, inserted or moved, and changes that a writer noticed.
//
// Without a key, anyone with write access to the file can recompute all hashes while no writer runs, and VerifyAudit
// does not detect that. With a key, only its owners can. Two changes leave a valid chain even with a key: records
// removed from the end, and another or an older log of the same key instead of this one. Both are detected only with
// AuditCheck.Head and AuditCheck.Log, from a head that was noted elsewhere; see [AuditHead].
func VerifyAudit(r io.Reader, check AuditCheck) (AuditState, error) {
	v := verifier{check: check, prev: check.After}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, chunk), maxAuditLine)
	lines.Split(cutLine)
	for len(v.found) < 20 && lines.Scan() {
		v.line(lines.Bytes())
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		v.find("longer than %d bytes, so not a record", maxAuditLine)
	} else if err != nil {
		v.find("%v", err)
	}
	if v.foreign.n > 0 {
		v.found = append(v.found, fmt.Errorf("line %d: not a record, and no record after it confirms it: "+
			"it is incomplete or was inserted", v.foreignAt))
	}
	if check.Head != "" && v.state.Hash != check.Head && len(v.found) < 20 {
		v.find("the log does not end with the hash %s: records were removed from its end, or others added since", check.Head)
	}
	return v.state, errors.Join(v.found...)
}

type verifier struct {
	check AuditCheck
	state AuditState
	at    int
	prev  string
	found []error

	foreign   foreignLines // since the last record
	foreignAt int          // number of the first one
}

// foreignLines are lines that are not records. They are hashed and not kept, because there may be any number of them.
type foreignLines struct {
	n      int
	others bool // a line is not the beginning of a record, as left by writers that were killed
	breaks int  // not yet hashed: a hash has no line breaks at its end
	hash   hash.Hash
}

func (f *foreignLines) add(line []byte) {
	switch {
	case f.n > 0:
		f.breaks++
	case len(line) == 0:
		return
	default:
		f.hash = sha256.New()
	}
	f.n++
	if len(line) == 0 {
		return
	}
	f.others = f.others || !isPartial(line)
	for ; f.breaks > 0; f.breaks-- {
		f.hash.Write([]byte{'\n'})
	}
	f.hash.Write(line)
}

// isPartial reports whether a line is the beginning of a record. A complete line without a hash is not: somebody else
// has written it.
func isPartial(line []byte) bool {
	const beginning = `{"protocol":`
	n := min(len(line), len(beginning))
	return string(line[:n]) == beginning[:n] && !json.Valid(line)
}

// torn returns the hash with which a record confirms the lines.
func (f *foreignLines) torn() string {
	if f.n == 0 {
		return ""
	}
	return hex.EncodeToString(f.hash.Sum(nil))
}

func (v *verifier) find(format string, args ...any) {
	v.found = append(v.found, fmt.Errorf("line %d: "+format, append([]any{max(v.at, 1)}, args...)...))
}

func (v *verifier) line(line []byte) {
	v.at++
	l, ok := parseChainLine(line)
	if !ok {
		if v.foreign.n == 0 {
			v.foreignAt = v.at
		}
		v.foreign.add(line)
		return
	}
	v.vouched(l.Torn)
	switch {
	case l.keyed && len(v.check.Key) == 0:
		v.find("the hash is keyed: pass the key that the log was written with")
	case !l.keyed && len(v.check.Key) > 0:
		v.find("the hash is not keyed: it was written without the key")
	case !hmac.Equal([]byte(chainHash(l.body, v.check.Key)), []byte(l.hash)):
		v.find("the hash does not match the line: the line was changed after it was written, or the key is another one")
	}
	first := v.state.Records == 0
	if first && v.check.Log == "" {
		v.check.Log = l.Log
	}
	if l.Log != v.check.Log {
		v.find("it belongs to the log %.40q and not to %.40q: a record was inserted, or another log has replaced this one",
			l.Log, v.check.Log)
	}
	if l.Broken != "" {
		v.find("its writer noticed that the log was changed: %.200q", l.Broken)
	}
	switch {
	case l.Prev != v.prev && first && v.prev == "":
		v.find("it continues the record %.80q: lines before it were removed, or the log continues another one; "+
			"then pass After", l.Prev)
	case l.Prev != v.prev:
		v.find("it does not continue the record before it: a line was removed, inserted or moved")
	case !first && l.Seq != v.state.Seq+1, first && v.check.After == "" && l.Seq != 1:
		v.find("its number is %d; want %d", l.Seq, v.state.Seq+1)
	}
	v.state.Records++
	v.state.Log, v.state.Seq, v.state.Hash, v.prev = l.Log, l.Seq, l.hash, l.hash
	v.state.Lost += l.Lost
}

// vouched checks the lines before a record against the hash of incomplete lines in that record.
func (v *verifier) vouched(torn string) {
	switch {
	case v.foreign.torn() == torn:
		v.state.Torn += v.foreign.n
	case v.foreign.n == 0:
		v.find("an incomplete line before it was removed")
	default:
		v.found = append(v.found, fmt.Errorf("line %d: not a record, and the record after it does not confirm it: "+
			"it was inserted or changed", v.foreignAt))
	}
	v.foreign = foreignLines{}
}

// maxAuditLine bounds the length of a line in bytes.
const maxAuditLine = 16 << 20

// cutLine splits a log into its lines, without newlines.
func cutLine(data []byte, isEnd bool) (advance int, line []byte, err error) {
	if at := bytes.IndexByte(data, '\n'); at >= 0 {
		return at + 1, data[:at], nil
	}
	if !isEnd || len(data) == 0 {
		return 0, nil, nil
	}
	return len(data), data, nil
}
