package record

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"
)

// A chainEnd is the end of a log that the next record continues.
type chainEnd struct {
	AuditHead
	torn   string // hash of the incomplete lines after the last record; "" if there are none
	broken string // how the log differs from what its writers left; "": not at all
	alone  bool   // the log does not have the record that the chain remembers, for example after a rotation
}

// Ways in which a log differs.
const (
	notRecords   = "lines that are not its records were added"
	notContinued = "records that do not continue it were added"
)

// next returns the link of the record that continues the end.
func (e chainEnd) next() chainLink {
	return chainLink{Log: e.Log, Seq: e.Seq + 1, Torn: e.torn, Broken: e.broken, Prev: e.Hash}
}

// end returns the end of a log. It takes the lines of the log, the last one first, and the head file.
func (c *auditChain) end(last iter.Seq2[[]byte, error], headFile string) (chainEnd, error) {
	end, after, found, err := c.find(last)
	if err != nil {
		return end, err
	}
	known, isEmpty := c.head.Log != "", !found && len(after) == 0
	end.alone = !found
	if known && !found && !isEmpty {
		end.rejoin(after, c.key)
	}
	end.follow(after, c.key)
	head, err := readHead(headFile)
	if err != nil && (!known || isEmpty) { // otherwise it is reported when the next head is written
		return end, err
	}
	isForeign := !known && !found && end.broken != ""
	switch {
	case head.Log == "" && isForeign:
		return end, errForeign
	case head.Log == "" && end.Log == "":
		end.Log = newLogID()
	case head.Log == "", known && head.Log != end.Log:
	case isForeign, end.Seq > 0 && head.Log != end.Log:
		end.AuditHead, end.broken = head, "another log has replaced it"
	case head.Seq > end.Seq:
		if !isEmpty { // log rotation did not move the records
			end.broken = cmp.Or(end.broken,
				fmt.Sprintf("it ends with record %d, but its head file with %d: records were removed", end.Seq, head.Seq))
		}
		end.AuditHead = head
	case !known && head.Seq == end.Seq && head.Hash != end.Hash:
		end.AuditHead, end.broken = head, fmt.Sprintf("record %d is not the one in its head file", end.Seq)
	} // a head before the end: a crash may prevent its last write
	return end, nil
}

// find looks for the record that the chain remembers, or for the last one if it remembers none. It returns the lines
// after the record, or the last ones of the log if the record is not found.
func (c *auditChain) find(last iter.Seq2[[]byte, error]) (end chainEnd, after [][]byte, found bool, err error) {
	end.AuditHead = c.head
	size := 0
	for line, err := range last {
		if err != nil {
			return end, nil, false, err
		}
		l, ok := cutHash(line)
		ok = ok && (c.head.Log == "" || l.hash == c.head.Hash) && l.verifies(c.key)
		switch {
		case found: // one more line, because somebody may have repeated the record
			if l.hash == end.Hash {
				end.broken = notContinued
			}
			size += maxAuditLine
		case ok && c.head.Log == "":
			if found = l.parse(line); found {
				end.AuditHead = l.head()
			}
		default:
			found = ok
		}
		if !found {
			after = append(after, bytes.Clone(line))
		}
		if size += len(line); size >= maxAuditLine {
			break
		}
	}
	slices.Reverse(after)
	return end, after, found, nil
}

// rejoin moves the end of a log, which no longer has the record of the end, before the first of its later records. For
// example, log rotation moved the file, and another process continued the log.
func (e *chainEnd) rejoin(lines [][]byte, key []byte) {
	e.broken = fmt.Sprintf("it no longer has record %d: records were removed or changed", e.Seq)
	for _, line := range lines {
		if l, ok := parseChainLine(line); ok && l.verifies(key) && l.Log == e.Log {
			if l.Seq > e.Seq {
				e.broken, e.Seq, e.Hash = "", l.Seq-1, l.Prev
			}
			return
		}
	}
}

// follow moves the end to the last of the lines that continue it.
func (e *chainEnd) follow(lines [][]byte, key []byte) {
	var rest foreignLines // after the last record
	for _, line := range lines {
		l, ok := parseChainLine(line)
		switch {
		case !ok || !l.verifies(key):
			rest.add(line)
			continue
		case l.Log != e.Log || l.Seq <= e.Seq:
			e.broken = cmp.Or(e.broken, notContinued)
			continue
		case l.Torn != rest.torn():
			e.broken = cmp.Or(e.broken, notRecords)
		case l.Seq != e.Seq+1 || l.Prev != e.Hash:
			e.broken = cmp.Or(e.broken, notContinued)
		}
		e.Seq, e.Hash, rest = l.Seq, l.hash, foreignLines{}
	}
	if e.torn = rest.torn(); rest.others {
		e.torn, e.broken = "", cmp.Or(e.broken, notRecords)
	}
}

// newLogID returns the identity of a new log.
func newLogID() string {
	id := make([]byte, 8)
	_, _ = rand.Read(id) // never fails
	return hex.EncodeToString(id)
}
