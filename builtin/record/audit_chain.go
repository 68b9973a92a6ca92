package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
)

// An auditChain appends records to a log, each with the hash of the record before. It remembers the last one, and looks
// for it at the end of the log before the next, because somebody may change the log meanwhile. It never takes a number
// or a hash from the log that it did not verify.
type auditChain struct {
	path string // of a file
	key  []byte
	head AuditHead // the last record of the log; a zero Log: unknown
	file int       // counts the files of the log, for example after a rotation
}

// errNoticed is a problem that an append noticed. The record is written nevertheless.
type errNoticed struct{ error }

// append writes one record. If somebody changed the log, the record continues the chain that the writer remembers and
// describes the change, and append returns an errNoticed.
func (c *auditChain) append(ctx context.Context, log AuditStore, headFile string, r auditedEvent) error {
	var (
		head AuditHead
		link chainLink
	)
	err := log.Append(ctx, func(last iter.Seq2[[]byte, error]) ([]byte, error) {
		end, err := c.end(last, headFile)
		if err != nil {
			return nil, err
		}
		if _, isFile := log.(auditFile); !isFile && end.torn != "" {
			end.torn, end.broken = "", notRecords
		}
		if end.alone {
			c.file++
		}
		if r.refers && r.file != c.file {
			return nil, errOtherFile
		}
		link = end.next()
		line, hash, err := chainedLine(r, link, c.key)
		head = AuditHead{Log: link.Log, Seq: link.Seq, Hash: hash}
		return bytes.TrimSuffix(line, []byte{'\n'}), err
	})
	if err != nil {
		return err
	}
	c.head = head
	if headFile != "" {
		if err := writeHead(headFile, head); err != nil {
			return errNoticed{fmt.Errorf("the head of a record is not written: %w", err)}
		}
	}
	if link.Broken != "" {
		return errNoticed{fmt.Errorf("the log was changed: %s; record %d says so, see its chain", link.Broken, link.Seq)}
	}
	return nil
}

// errOtherFile says that a line refers to earlier lines that its file does not have. It is made again without them, so
// that each file can be read alone.
var errOtherFile = errors.New("the line refers to another file")

var errForeign = errors.New("the log has lines, but no record that was written with this key: another program or " +
	"another key has written it; name another log, or set the key of this one")
