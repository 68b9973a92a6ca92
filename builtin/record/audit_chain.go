package record

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hookgen/hookgen/internal/atomicfile"
)

// An auditChain appends records to a log, each with the hash of the record before. It remembers the last one, and looks
// for it at the end of the log before the next, because somebody may change the log meanwhile. It never takes a number
// or a hash from the log that it did not verify.
type auditChain struct {
	path string // of a file, absolute
	key  []byte
	head AuditHead // the last record of the log; a zero Log: unknown
}

// errNoticed is a problem that an append noticed. The record is written nevertheless.
type errNoticed struct{ error }

// A chainStore remembers the chains of the files to which this program writes, so that all its Audits of a file
// continue one chain, also after log rotation. It forgets the chain that was not used for the longest time when it
// holds maxChains of them; an Audit that returns to such a file reads its end like a new program.
type chainStore struct {
	mu   sync.Mutex
	used []*auditChain // the last one was used last
}

const maxChains = 256

var chains chainStore

// of returns the chain of a file. The caller holds the lock of its path.
func (s *chainStore) of(path string, key []byte) *auditChain {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &auditChain{path: path, key: bytes.Clone(key)}
	at := slices.IndexFunc(s.used, func(c *auditChain) bool { return c.path == path && bytes.Equal(c.key, key) })
	if at >= 0 {
		c = s.used[at]
	} else if at = 0; len(s.used) < maxChains {
		s.used = append(s.used, c)
		return c
	}
	s.used = append(slices.Delete(s.used, at, at+1), c)
	return c
}

// appendAudit writes one record to the log at path. See auditChain.append.
func appendAudit(path, headFile string, key []byte, flush bool, r auditedEvent) (AuditHead, error) {
	unlock := atomicfile.LockSharedBriefly(path)
	defer unlock()
	c := chains.of(path, key)
	err := c.append(context.Background(), auditFile{path, flush}, headFile, r)
	return c.head, err
}

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

var errForeign = errors.New("the log has lines, but no record that was written with this key: another program or " +
	"another key has written it; name another log, or set the key of this one")
