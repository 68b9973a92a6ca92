package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
)

// An AuditStore keeps the lines of an audit log, for example in a table of a database. It is safe for concurrent use,
// and several processes may use one log.
type AuditStore interface {
	// Append adds one line to the end of the log. It calls next with the lines of the log, the last one first, and adds
	// the line that next returns, which has no newline. If next fails, Append adds nothing and returns its error.
	//
	// From before the first line is read until the new one is added, nobody else may add a line. The line is added whole
	// or not at all, and is permanent when Append returns nil. The next function may stop reading at any line. A line is
	// valid until the following one is read.
	Append(ctx context.Context, next func(last iter.Seq2[[]byte, error]) (line []byte, err error)) error
}

// appendTo writes one record to a store. Like append, it continues the chain that the writer remembers.
func (c *auditChain) appendTo(
	ctx context.Context, store AuditStore, headFile string, key []byte, r auditedEvent,
) error {
	var (
		next auditChain
		link chainLink
	)
	err := store.Append(ctx, func(last iter.Seq2[[]byte, error]) ([]byte, error) {
		end, err := c.storedEnd(last, headFile, key)
		if err != nil {
			return nil, err
		}
		link = end.next()
		link.Torn = "" // a store has no incomplete lines
		line, hash, err := chainedLine(r, link, key)
		if err != nil {
			return nil, err
		}
		line = bytes.TrimSuffix(line, []byte{'\n'})
		next = auditChain{
			head: AuditHead{Log: link.Log, Seq: link.Seq, Hash: hash}, last: lastLine{int64(len(line)), sha256.Sum256(line)},
		}
		return line, nil
	})
	if err != nil {
		return err
	}
	*c = next
	if headFile != "" {
		if err := writeHead(headFile, c.head); err != nil {
			return errNoticed{fmt.Errorf("the head of a record is not written: %w", err)}
		}
	}
	if link.Broken != "" {
		return changedError(link)
	}
	return nil
}

// storedEnd returns the end of a log in a store.
func (c *auditChain) storedEnd(last iter.Seq2[[]byte, error], headFile string, key []byte) (chainEnd, error) {
	known := c.head.Log != ""
	var (
		end   = chainEnd{AuditHead: c.head}
		added [][]byte // lines after the end, the last one first
		size  int
		found bool
	)
	for line, err := range last {
		if err != nil {
			return chainEnd{}, err
		}
		if known && c.last == (lastLine{int64(len(line)), sha256.Sum256(line)}) {
			found = true
			break
		}
		if l, ok := parseChainLine(line); !known && ok && l.verifies(key) {
			end.AuditHead, found = AuditHead{Log: l.Log, Seq: l.Seq, Hash: l.hash}, true
			break
		}
		added = append(added, bytes.Clone(line))
		if size += len(line); size > maxTail {
			break
		}
	}
	slices.Reverse(added)
	switch {
	case found:
		end.follow(added, key)
	case known && len(added) == 0:
		return c.rotatedEnd(headFile)
	case known:
		end.broken = fmt.Sprintf("it no longer has record %d: records were removed or changed", c.head.Seq)
		for _, line := range added { // other processes may have continued it
			if l, ok := parseChainLine(line); ok && l.verifies(key) && l.Log == end.Log && l.Seq > end.Seq {
				end.Seq, end.Hash = l.Seq, l.hash
			}
		}
	}
	if known {
		return end.compared(headFile), nil
	}
	var err error
	if !found && len(added) > 0 {
		err = errForeign
	}
	return firstEnd(end, err, len(added) == 0 && !found, headFile)
}

// follow moves the end to the last of the lines that continue it. Other lines do not belong to the log.
func (e *chainEnd) follow(lines [][]byte, key []byte) {
	for _, line := range lines {
		l, ok := parseChainLine(line)
		if !ok || !l.verifies(key) || l.Log != e.Log || l.Prev != e.Hash || l.Seq != e.Seq+1 {
			e.broken = "lines that do not continue it were added"
			continue
		}
		e.Seq, e.Hash = l.Seq, l.hash
	}
}
