package record_test

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/generated/agent"
)

func TestVerifyAuditFindsEveryChange(t *testing.T) {
	key := []byte("a key")
	for _, keyed := range []bool{false, true} {
		t.Run(fmt.Sprintf("keyed %t", keyed), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			log := &record.Audit{Path: path}
			check := record.AuditCheck{}
			if keyed {
				log.Key, check.Key = key, key
			}
			var hooks agent.Hooks
			hooks.Use(log)
			run := agent.NewRun(&agent.Env{})
			for i := range 5 {
				call := agent.ToolCallRequest{ID: fmt.Sprint(i), Name: "x"}
				_, _ = hooks.BeforeTool.Fire(t.Context(), run, &call)
			}
			whole := verified(t, path, check)
			lines := strings.SplitAfter(strings.TrimSuffix(string(fixture.ReadFile(t, path)), "\n"), "\n")
			lines[4] += "\n"
			for name, change := range map[string]struct {
				lines []string
				want  string
			}{
				"a changed value": {[]string{lines[0], strings.Replace(lines[1], `"name":"x"`, `"name":"y"`, 1), lines[2],
					lines[3], lines[4]}, "line 2: the hash does not match the line"},
				"a removed line":      {[]string{lines[0], lines[2], lines[3], lines[4]}, "line 2: it does not continue"},
				"a removed beginning": {lines[1:], "line 1: it continues the record"},
				"lines exchanged": {[]string{lines[0], lines[2], lines[1], lines[3], lines[4]},
					"line 2: it does not continue"},
				"a doubled line": {[]string{lines[0], lines[1], lines[1], lines[2], lines[3], lines[4]},
					"line 3: it does not continue"},
				"an inserted text": {[]string{lines[0], "hello\n", lines[1], lines[2], lines[3], lines[4]},
					"line 2: not a record, and the record after it does not confirm it"},
				"a text at the end": {append(append([]string{}, lines...), "hello\n"),
					"line 6: not a record, and no record after it"},
				"a cut end":  {lines[:4], "records were removed from its end"},
				"a cut line": {[]string{lines[0], lines[1], lines[2], lines[3], lines[4][:50]}, "line 5: not a record"},
			} {
				t.Run(name, func(t *testing.T) {
					with := check
					with.Head = whole.Hash
					_, err := record.VerifyAudit(strings.NewReader(strings.Join(change.lines, "")), with)
					if err == nil || !strings.Contains(err.Error(), change.want) {
						t.Errorf("%s, keyed %v: %v, want %q", name, keyed, err, change.want)
					}
				})
			}
			wrong := map[string]string{"another": "it was written without the key"}
			if keyed {
				wrong = map[string]string{"": "pass the key", "another": "the key is another one"}
			}
			for other, want := range wrong {
				_, err := record.VerifyAudit(bytes.NewReader(fixture.ReadFile(t, path)), record.AuditCheck{Key: []byte(other)})
				if err == nil || !strings.Contains(err.Error(), want) {
					t.Errorf("keyed %v, checked with %q: %v", keyed, other, err)
				}
			}
		})
	}
	if _, err := record.VerifyAudit(io.MultiReader(strings.NewReader("{}"), badReader{}),
		record.AuditCheck{}); err == nil || !strings.Contains(err.Error(), "torn cable") {
		t.Errorf("a reader's failure: %v", err)
	}
}

type badReader struct{}

func (badReader) Read([]byte) (int, error) { return 0, errors.New("torn cable") }

func TestAuditContinuesItsChain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "audit.jsonl")
	log := &record.Audit{Path: path, Sync: true}
	fire(t, log)
	fire(t, &record.Audit{Path: path}) // after a restart
	fire(t, log)                       // a second Audit on the same file
	if s := verified(t, path, record.AuditCheck{}); s.Records != 3 {
		t.Errorf("state: %+v", s)
	}

	// The program crashes in the middle of a line. A new program has another path here.
	whole := fixture.ReadFile(t, path)
	restart := func(text string) string {
		t.Helper()
		other := filepath.Join(t.TempDir(), "audit.jsonl")
		if err := os.WriteFile(other, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		fire(t, &record.Audit{Path: other, OnError: func(err error) { t.Error(err) }})
		return other
	}
	for _, torn := range []string{
		`{"protocol":1,"se`,
		"\n\n{\n" + `{"protocol":1,"seq":1`,
		`{"protocol":1,"spec":"` + strings.Repeat("z", 200_000),
	} {
		t.Run(fmt.Sprintf("%.10q", torn), func(t *testing.T) {
			other := restart(string(whole) + torn)
			s := verified(t, other, record.AuditCheck{})
			if s.Records != 4 || s.Torn == 0 {
				t.Errorf("after %.20q: %+v", torn, s)
			}
			changed := bytes.Replace(fixture.ReadFile(t, other), []byte(strings.TrimSpace(torn)), []byte("changed"), 1)
			if _, err := record.VerifyAudit(bytes.NewReader(changed), record.AuditCheck{}); err == nil {
				t.Errorf("a changed unfinished line %.20q was not found", torn)
			}
		})
	}
	// Only the last newline is missing; then the very first line is incomplete. The second line is incomplete too, so the
	// file has no record yet.
	for _, left := range []string{strings.TrimSuffix(string(whole), "\n"), `{"protocol":1,"seq":1`, `{"p`,
		"{\n{\"protocol\":1\n\n{\"pro"} {
		verified(t, restart(left), record.AuditCheck{})
	}

	// Log rotation moves the file away.
	fire(t, log)
	head := verified(t, path, record.AuditCheck{})
	if err := os.Rename(path, filepath.Join(dir, "old.jsonl")); err != nil {
		t.Fatal(err)
	}
	fire(t, log)
	if s := verified(t, path, record.AuditCheck{After: head.Hash}); s.Records != 1 || s.Seq != head.Seq+1 {
		t.Errorf("the new file: %+v", s)
	}
}

// fire records one call.
func fire(t *testing.T, log *record.Audit) {
	t.Helper()
	var hooks agent.Hooks
	hooks.Use(log)
	call := agent.ToolCallRequest{ID: "1", Name: "x"}
	_, _ = hooks.BeforeTool.Fire(t.Context(), agent.NewRun(&agent.Env{}), &call)
}

// An auditFile is a log that somebody without the key manipulates.
type auditFile struct {
	t     *testing.T
	path  string
	lines []string // the records
}

func (f auditFile) write(text string) {
	f.t.Helper()
	if err := os.WriteFile(f.path, []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

func (f auditFile) all() string { return strings.Join(f.lines, "") }

// unhashed returns a record without a hash.
func unhashed(line string) string {
	at := max(strings.LastIndex(line, `,"hash":"`), strings.LastIndex(line, `,"hmac":"`))
	return strings.Replace(line[:at], `"seq":3`, `"seq":4`, 1) + "}\n"
}

// rehashed returns a log whose hashes were computed again without a key.
func rehashed(lines []string) string {
	prev, all := "", ""
	for _, line := range lines {
		at := max(strings.LastIndex(line, `,"hash":"`), strings.LastIndex(line, `,"hmac":"`))
		body := line[:at]
		from := strings.LastIndex(body, `"prev":"`) + len(`"prev":"`)
		body = body[:from] + prev + strings.TrimLeft(body[from:], "0123456789abcdef")
		prev = fmt.Sprintf("%x", sha256.Sum256([]byte(body)))
		all += body + `,"hash":"` + prev + "\"}\n"
	}
	return all
}

func TestRunningAuditNoticesManipulations(t *testing.T) {
	for name, manipulate := range map[string]func(f auditFile){
		"a record without a hash": func(f auditFile) { f.write(f.all() + unhashed(f.lines[2])) },
		"a record with a false hash": func(f auditFile) {
			f.write(f.all() + strings.Replace(f.lines[2], `"seq":3`, `"seq":4`, 1))
		},
		"a text at the end":       func(f auditFile) { f.write(f.all() + "hello") },
		"a text and a line break": func(f auditFile) { f.write(f.all() + "hello\n") },
		"a cut end":               func(f auditFile) { f.write(f.lines[0] + f.lines[1]) },
		"a cut line":              func(f auditFile) { f.write(strings.TrimSuffix(f.all(), "}\n")) },
		"a changed last record": func(f auditFile) {
			f.write(f.lines[0] + f.lines[1] + strings.Replace(f.lines[2], `"x"`, `"y"`, 1))
		},
		"a doubled record": func(f auditFile) { f.write(f.all() + f.lines[2]) },
		"an older log":     func(f auditFile) { f.replace(f.lines[0]) },
		"a text instead":   func(f auditFile) { f.replace("hello\n") },
		"a new chain without a key": func(f auditFile) {
			f.write(rehashed([]string{f.lines[0], strings.Replace(f.lines[1], `"x"`, `"y"`, 1), f.lines[2]}))
		},
		"another log of the key": func(f auditFile) {
			other := filepath.Join(f.t.TempDir(), "other")
			log := &record.Audit{Path: other, Key: []byte("key")}
			for range 5 {
				fire(f.t, log)
			}
			f.replace(string(fixture.ReadFile(f.t, other)))
		},
	} {
		for of, key := range map[string][]byte{"no key": nil, "key": []byte("key")} {
			if key == nil && name == "another log of the key" {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", name, of), func(t *testing.T) {
				path := filepath.Join(t.TempDir(), "audit.jsonl")
				var noticed []error
				log := &record.Audit{Path: path, Key: key, OnError: func(err error) { noticed = append(noticed, err) }}
				for range 3 {
					fire(t, log)
				}
				manipulate(auditFile{t, path, strings.SplitAfter(string(fixture.ReadFile(t, path)), "\n")[:3]})
				fire(t, log)
				if len(noticed) != 1 || !strings.Contains(noticed[0].Error(), "the log was changed") {
					t.Errorf("noticed: %v", noticed)
				}
				head := log.Head()
				fire(t, log) // the chain continues
				if next := log.Head(); head.Seq != 4 || next.Seq != 5 || next.Log != head.Log || len(noticed) != 1 {
					t.Errorf("heads %+v and %+v, noticed %v", head, next, noticed)
				}
				data := fixture.ReadFile(t, path)
				state, err := record.VerifyAudit(bytes.NewReader(data), record.AuditCheck{Key: key, Head: log.Head().Hash})
				if err == nil || !strings.Contains(err.Error(), "its writer noticed") || state.Seq != 5 {
					t.Errorf("verified: %+v, %v", state, err)
				}
			})
		}
	}
}

// replace replaces the file by another one with the text.
func (f auditFile) replace(text string) {
	f.t.Helper()
	other := auditFile{t: f.t, path: f.path + ".new"}
	other.write(text)
	if err := os.Rename(other.path, f.path); err != nil {
		f.t.Fatal(err)
	}
}

func TestHeadShowsWhatAChainCannot(t *testing.T) {
	key := []byte("key")
	for name, manipulate := range map[string]func(f auditFile){
		"a cut end":               func(f auditFile) { f.write(f.lines[0]) },
		"all records removed":     func(f auditFile) { f.write(unhashed(f.lines[0])[:20]) },
		"a record without a hash": func(f auditFile) { f.write(f.all() + unhashed(f.lines[2])) },
		"another log of the key": func(f auditFile) {
			other := filepath.Join(f.t.TempDir(), "other")
			log := &record.Audit{Path: other, Key: key}
			for range 5 {
				fire(f.t, log)
			}
			f.replace(string(fixture.ReadFile(f.t, other)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			dir := filepath.Join(root, "1")
			path, headFile := filepath.Join(dir, "log", "audit.jsonl"), filepath.Join(dir, "head", "audit")
			log := &record.Audit{Path: path, HeadFile: headFile, Key: key}
			for range 3 {
				fire(t, log)
			}
			head, err := record.ReadAuditHead(headFile)
			if err != nil || head != log.Head() || head.Seq != 3 {
				t.Fatalf("head: %+v, %v, want %+v", head, err, log.Head())
			}
			manipulate(auditFile{t, path, strings.SplitAfter(string(fixture.ReadFile(t, path)), "\n")[:3]})
			if _, err := record.VerifyAudit(bytes.NewReader(fixture.ReadFile(t, path)),
				record.AuditCheck{Key: key, Head: head.Hash, Log: head.Log}); err == nil {
				t.Error("VerifyAudit with the head accepts the log")
			}
			if err := os.Rename(dir, filepath.Join(root, "2")); err != nil { // a new program has another path here
				t.Fatal(err)
			}
			var noticed []error
			again := &record.Audit{
				Path: filepath.Join(root, "2", "log", "audit.jsonl"), HeadFile: filepath.Join(root, "2", "head", "audit"), Key: key,
				OnError: func(err error) { noticed = append(noticed, err) },
			}
			fire(t, again)
			if len(noticed) != 1 || !strings.Contains(noticed[0].Error(), "the log was changed") {
				t.Errorf("noticed: %v", noticed)
			}
			if got := again.Head(); got.Seq != 4 || got.Log != head.Log {
				t.Errorf("the next head is %+v", got)
			}
		})
	}
}

func TestAuditContinuesAfterItsHead(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "0")
	log := func() *record.Audit {
		return &record.Audit{Path: filepath.Join(dir, "audit.jsonl"), HeadFile: filepath.Join(dir, "head"),
			OnError: func(err error) { t.Error(err) }}
	}
	restart := func(name string) {
		t.Helper()
		next := filepath.Join(root, name)
		if err := os.Rename(dir, next); err != nil {
			t.Fatal(err)
		}
		dir = next
	}
	fire(t, log())
	older := fixture.ReadFile(t, log().HeadFile)
	fire(t, log())
	restart("1")
	if err := os.WriteFile(log().HeadFile, older, 0o600); err != nil { // a crash before the head of the second record
		t.Fatal(err)
	}
	fire(t, log())
	restart("2")
	rotated := filepath.Join(root, "rotated")
	if err := os.Rename(log().Path, rotated); err != nil {
		t.Fatal(err)
	}
	fire(t, log())
	old := verified(t, rotated, record.AuditCheck{})
	if s := verified(t, log().Path, record.AuditCheck{After: old.Hash, Log: old.Log}); s.Seq != 4 {
		t.Errorf("state: %+v", s)
	}
	if info, err := os.Stat(log().HeadFile); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

func TestBrokenHeadFilesAreReported(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"text":    "hello",
		"half":    `{"log":"a","seq":`,
		"empty":   "",
		"no hash": `{"log":"a","seq":1}`,
	} {
		t.Run(name, func(t *testing.T) {
			headFile := filepath.Join(dir, name)
			if err := os.WriteFile(headFile, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
			var reported []error
			fire(t, &record.Audit{Path: filepath.Join(dir, name+".log"), HeadFile: headFile,
				OnError: func(err error) { reported = append(reported, err) }})
			if len(reported) != 1 || !strings.Contains(reported[0].Error(), "is not the head of an audit log") {
				t.Errorf("reported: %v", reported)
			}
		})
	}
}

func TestAuditsOfOneProgramShareALog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	one := &record.Audit{Path: path, HeadFile: path + ".head", OnError: func(err error) { t.Error(err) }}
	two := &record.Audit{Path: path, HeadFile: path + ".head", OnError: func(err error) { t.Error(err) }}
	for i := range 12 {
		fire(t, one)
		if i%3 == 0 {
			fire(t, two)
			fire(t, two)
		}
		if i == 6 {
			if err := os.Rename(path, path+".old"); err != nil {
				t.Fatal(err)
			}
		}
	}
	old := verified(t, path+".old", record.AuditCheck{})
	if s := verified(t, path, record.AuditCheck{After: old.Hash, Log: old.Log}); s.Seq != 20 {
		t.Errorf("state: %+v", s)
	}
}
