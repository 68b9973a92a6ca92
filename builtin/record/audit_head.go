package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// AuditHead identifies the last record of an audit log. Keep it out of reach of the writers of the log: with
// it, VerifyAudit notices that records were removed from the end or that another log replaced the whole.
type AuditHead struct {
	Log  string `json:"log"`  // the identity of the log
	Seq  uint64 `json:"seq"`  // the number of the last record
	Hash string `json:"hash"` // the hash of the last record
}

// headSize is the size of a head file. All heads have the same size, so that one write replaces the old one.
const headSize = 160

// writeHead writes a head to its file.
func writeHead(path string, head AuditHead) error {
	line, err := json.Marshal(head)
	if err != nil {
		return err
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // does not wait for a reader of a pipe
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || info.Size() != 0 && info.Size() != headSize) {
		if _, err = ReadAuditHead(path); err == nil { // somebody repaired it
			err = f.Truncate(0)
		}
	}
	if err == nil {
		_, err = f.WriteAt(fmt.Appendf(nil, "%-*s\n", headSize-1, line), 0)
	}
	return errors.Join(err, f.Close())
}

// ReadAuditHead reads the file of Audit.HeadFile. It returns an error if the file is missing or invalid.
func ReadAuditHead(path string) (AuditHead, error) {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	var data []byte
	if err == nil {
		data, err = os.ReadFile(path)
	}
	if err != nil {
		return AuditHead{}, fmt.Errorf("the head of the audit log cannot be read: %w", err)
	}
	var head AuditHead
	if err = json.Unmarshal(data, &head); err == nil && (head.Log == "" || head.Seq == 0 || len(head.Hash) != hashSize) {
		err = errors.New("it has no log, number or hash")
	}
	if err != nil {
		return AuditHead{}, fmt.Errorf("%s is not the head of an audit log: %w; repair it or remove it", path, err)
	}
	return head, nil
}

// readHead is ReadAuditHead for a file that may not exist yet. It returns a zero head for an empty path.
func readHead(path string) (AuditHead, error) {
	if path == "" {
		return AuditHead{}, nil
	}
	head, err := ReadAuditHead(path)
	if errors.Is(err, fs.ErrNotExist) {
		return AuditHead{}, nil
	}
	return head, err
}
