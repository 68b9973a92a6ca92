package sqlite

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

func TestChangedAuditLogIsNoticed(t *testing.T) {
	for _, c := range []struct {
		name, change string
		notice       string // by the writer
		verify       string
	}{
		{"nothing", "SELECT 1", "", ""},
		{"last line removed", "DELETE FROM audit WHERE position = 3", "it no longer has record 3", "does not continue"},
		{"last line changed",
			"UPDATE audit SET line = CAST(replace(CAST(line AS TEXT), 'two', '2') AS BLOB) WHERE position = 3",
			"it no longer has record 3", "does not match the line"},
		{"line added", "INSERT INTO audit (log, line) SELECT log, line FROM audit WHERE position = 1",
			"records that do not continue it were added", "moved"},
		{"first line removed", "DELETE FROM audit WHERE position = 1", "", "lines before it were removed"},
		{"other log changed", "INSERT INTO audit (log, line) VALUES ('other', x'00')", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := newDB(t)
			var noticed []string
			a := auditOf(db, func(err error) { noticed = append(noticed, err.Error()) })
			for _, text := range []string{"zero", "one", "two"} {
				auditRecord(a, text)
			}
			if _, err := db.write.Exec(c.change); err != nil {
				t.Fatal(err)
			}
			auditRecord(a, "three")
			if got := strings.Join(noticed, "\n"); (got == "") != (c.notice == "") || !strings.Contains(got, c.notice) {
				t.Errorf("the writer noticed %q, want %q", got, c.notice)
			}
			_, err := record.VerifyAudit(AuditLog{DB: db}.Reader(t.Context()), record.AuditCheck{Key: []byte("key")})
			if (err == nil) != (c.verify == "") || err != nil && !strings.Contains(err.Error(), c.verify) {
				t.Errorf("the check found %v, want %q", err, c.verify)
			}
		})
	}
}

func TestAuditLogIsReadInPieces(t *testing.T) {
	db := newDB(t)
	a := auditOf(db, func(err error) { t.Error(err) })
	for range 150 {
		auditRecord(a, "text")
	}
	n := 0
	for e, err := range hooklog.Read(iotest.OneByteReader(AuditLog{DB: db}.Reader(t.Context()))) {
		if n++; err != nil || e.Seq != int64(n) || !strings.Contains(string(e.Payload), `"output":"text"`) {
			t.Fatalf("event %d: %+v, %v", n, e, err)
		}
	}
	if n != 150 || verifyAudit(t, db) != 150 {
		t.Errorf("read %d records", n)
	}
	if data, err := io.ReadAll(AuditLog{DB: db, Name: "other"}.Reader(t.Context())); len(data) > 0 || err != nil {
		t.Errorf("another log has %q, %v", data, err)
	}
}

func TestAuditLogOfAClosedFileFails(t *testing.T) {
	db := newDB(t)
	var noticed error
	a := auditOf(db, func(err error) { noticed = errors.Join(noticed, err) })
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	auditRecord(a, "lost")
	if noticed == nil || !strings.Contains(noticed.Error(), "an event of AfterTool is lost, 1 so far") {
		t.Errorf("noticed %v", noticed)
	}
	if _, err := io.ReadAll(AuditLog{DB: db}.Reader(t.Context())); err == nil {
		t.Error("a closed log was read")
	}
}
