package record

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/hookkit"
)

// An AuditCheck is what [VerifyAudit] is to expect. The zero value suits a log that was written without a key and
// that was never moved away.
type AuditCheck struct {
	Key   []byte // of the log; empty: none
	After string // the hash that the first record continues, of a log that was moved away; "": it is the first
	Head  string // the hash that the last record must have, as it was noted elsewhere; "": any
}

// An AuditState is what a verified log holds.
type AuditState struct {
	Records int
	Seq     uint64 // of the last record
	Hash    string // of the last record: noted elsewhere it shows later that nothing was cut off
	Lost    int    // records that could not be written
	Torn    int    // unfinished lines that a record vouches for
}

// VerifyAudit checks the chain of an audit log: each record has the hash that it says, continues the one before,
// and has the next number. The error names each line that was changed and each place where lines were removed,
// inserted or moved, up to 20 of them.
//
// Without a key it finds what was changed by somebody who did not compute all later hashes anew; with one, by
// anybody who does not have the key. That the end was cut off shows only in Head, or in AuditState compared with
// what was noted before.
func VerifyAudit(r io.Reader, check AuditCheck) (AuditState, error) {
	v := verifier{check: check, prev: check.After}
	for line, err := range auditLines(r) {
		if err != nil {
			v.find("%v", err)
			break
		}
		if v.line(line); len(v.found) == 20 {
			break
		}
	}
	if len(v.foreign) > 0 {
		v.found = append(v.found, fmt.Errorf("line %d: it is no record, and none after it vouches for it: it is unfinished or was inserted", v.foreignAt))
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

	foreign   [][]byte // lines since the last record that are none
	foreignAt int
}

func (v *verifier) find(format string, args ...any) {
	v.found = append(v.found, fmt.Errorf("line %d: "+format, append([]any{max(v.at, 1)}, args...)...))
}

func (v *verifier) line(line []byte) {
	v.at++
	l, ok := parseChainLine(line)
	if !ok {
		if len(v.foreign) == 0 {
			if len(line) == 0 {
				return
			}
			v.foreignAt = v.at
		}
		v.foreign = append(v.foreign, bytes.Clone(line))
		return
	}
	v.vouched(l.record.Torn)
	switch {
	case l.keyed && len(v.check.Key) == 0:
		v.find("the hash is keyed: pass the key that the log was written with")
	case !l.keyed && len(v.check.Key) > 0:
		v.find("the hash is not keyed: it was written without the key")
	case !hmac.Equal([]byte(chainHash(l.body, v.check.Key)), []byte(l.hash)):
		v.find("the hash is not that of the line: it was changed after it was written, or the key is another one")
	}
	first := v.state.Records == 0
	switch {
	case l.record.Prev != v.prev && first && v.prev == "":
		v.find("it continues the record %s: lines before it were removed, or the log continues another one; then pass After", l.record.Prev)
	case l.record.Prev != v.prev:
		v.find("it does not continue the record before it: a line was removed, inserted or moved")
	case !first && l.record.Seq != v.state.Seq+1, first && v.check.After == "" && l.record.Seq != 1:
		v.find("its number is %d, which is not the next", l.record.Seq)
	}
	v.state.Records++
	v.state.Seq, v.state.Hash, v.prev = l.record.Seq, l.hash, l.hash
	v.state.Lost += l.record.Lost
}

// vouched checks lines that are no records against what the record after them says of them.
func (v *verifier) vouched(torn string) {
	switch {
	case tornHash(bytes.Join(v.foreign, []byte{'\n'})) == torn:
		v.state.Torn += len(v.foreign)
	case len(v.foreign) == 0:
		v.find("an unfinished line before it was removed")
	default:
		v.found = append(v.found, fmt.Errorf("line %d: it is no record, and the one after it does not vouch for it: it was inserted or changed", v.foreignAt))
	}
	v.foreign = nil
}

// maxAuditLine bounds a line that is read.
const maxAuditLine = 64 << 20

// auditLines yields the lines of a log, without their breaks. A line is valid until the next one.
func auditLines(r io.Reader) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		b := bufio.NewReaderSize(r, 64<<10)
		var line []byte
		for {
			part, err := b.ReadSlice('\n')
			line = append(line, part...)
			switch {
			case errors.Is(err, bufio.ErrBufferFull) && len(line) <= maxAuditLine:
				continue
			case errors.Is(err, bufio.ErrBufferFull):
				yield(nil, fmt.Errorf("it is longer than %d bytes, which no record is", maxAuditLine))
				return
			case errors.Is(err, io.EOF):
				if len(line) > 0 {
					yield(line, nil)
				}
				return
			case err != nil:
				yield(nil, err)
				return
			}
			if !yield(bytes.TrimSuffix(line, []byte{'\n'}), nil) {
				return
			}
			line = line[:0]
		}
	}
}

// ReadAudit yields the records of an audit log in the order in which they were written. A line that is no record
// yields an error with its number, and the next follows; so does an error of r, which is the last. It does not check
// the chain: [VerifyAudit] does.
func ReadAudit(r io.Reader) iter.Seq2[AuditRecord, error] {
	return func(yield func(AuditRecord, error) bool) {
		at := 0
		for line, err := range auditLines(r) {
			at++
			if err == nil && len(line) == 0 {
				continue
			}
			var record AuditRecord
			if err == nil {
				err = json.Unmarshal(line, &record)
			}
			if err == nil && record.Point == "" {
				err = errors.New("it names no point")
			}
			if err != nil {
				record, err = AuditRecord{}, fmt.Errorf("line %d is no audit record: %w", at, err)
			}
			if !yield(record, err) {
				return
			}
		}
	}
}

// ReplayAudit gives the events of a run, and of the runs that it started, to a tracer, in the order in which they
// happened: one event of the kind Fired for each record. An empty run stands for all runs. Lines that are no records
// are left out and named by the error, as is a run that has no record.
func ReplayAudit(ctx context.Context, r io.Reader, run string, t hookkit.Tracer) error {
	var errs []error
	belongs := map[string]bool{run: true}
	found := run == ""
	for record, err := range ReadAudit(r) {
		if err != nil {
			errs = append(errs, err)
			continue
		}
		if run != "" {
			if record.Parent != "" && belongs[record.Parent] {
				belongs[record.Run] = true
			}
			if !belongs[record.Run] {
				continue
			}
		}
		if err := ctx.Err(); err != nil {
			return errors.Join(append(errs, err)...)
		}
		found = true
		t.Trace(ctx, record.Event())
	}
	if !found {
		errs = append(errs, fmt.Errorf("the log has no record of the run %q", run))
	}
	return errors.Join(errs...)
}

// Event returns the record as an event of a tracer. Duration is that of the act, where the record has one.
func (r AuditRecord) Event() hookkit.Event {
	e := hookkit.Event{
		Kind: hookkit.Fired, Run: r.Run, Point: r.Point, Hook: r.Hook, Site: r.Site,
		Start: r.Time, Decision: r.Outcome, Reason: r.Reason,
	}
	if r.DurationMS != nil {
		e.Duration = kit.Duration(*r.DurationMS)
	}
	if n := len(r.Failures); n > 0 {
		f := r.Failures[n-1]
		e.Failure = &hookkit.Failure{Point: r.Point, Hook: f.Hook, Site: f.Site, Cause: errors.New(f.Err)}
	}
	return e
}
