package record

import (
	"crypto/sha256"
	"errors"
	"fmt"
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
func appendAudit(path, headFile string, key []byte, flush bool, r auditedEvent) (AuditHead, error) {
	unlock := atomicfile.LockSharedBriefly(path)
	defer unlock()
	c := chains.of(path)
	err := c.append(path, headFile, key, flush, r)
	return c.head, err
}

// append writes one record in one write. If somebody changed the file, the record continues the chain that the writer
// remembers and describes the change, and append returns an errNoticed.
func (c *auditChain) append(path, headFile string, key []byte, flush bool, r auditedEvent) (err error) {
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
