package record_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/hookgen/hookgen/builtin/internal/testdata/fixture"
	"github.com/hookgen/hookgen/builtin/record"
	"github.com/hookgen/hookgen/internal/atomicfile"
)

const sharedLog = "HOOKGEN_TEST_SHARED_LOG"

// TestMain writes records to a log and ends if another test started the program for that.
func TestMain(m *testing.M) {
	atomicfile.Brief = time.Minute
	if path := os.Getenv(sharedLog); path != "" {
		log := &record.Audit{Path: path, HeadFile: path + ".head", Key: []byte("key"), OnError: func(err error) {
			fmt.Println(err)
		}}
		for range 100 {
			fire(&testing.T{}, log)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestProcessesWriteOneLogAtOnce(t *testing.T) {
	if runtime.GOOS == "plan9" || runtime.GOOS == "js" {
		t.Skip("no file locks")
	}
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	const processes = 3
	ended := make(chan error, processes)
	for range processes {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), sharedLog+"="+path)
		go func() {
			output, err := cmd.CombinedOutput()
			if len(output) > 0 {
				err = errors.Join(err, errors.New(string(output)))
			}
			ended <- err
		}()
	}
	log := &record.Audit{Path: path, HeadFile: path + ".head", Key: []byte("key"),
		OnError: func(err error) { t.Error(err) }}
	var files []string
	written := 0
	for left := processes; left > 0; {
		select {
		case err := <-ended:
			left--
			if err != nil {
				t.Error(err)
			}
		default:
		}
		fire(t, log)
		if written++; written%100 == 0 { // log rotation, while the others write
			files = append(files, fmt.Sprint(path, ".", written))
			if err := os.Rename(path, files[len(files)-1]); err != nil {
				t.Error(err)
			}
		}
	}
	if _, err := os.Stat(path); err == nil {
		files = append(files, path)
	}
	check := record.AuditCheck{Key: []byte("key")}
	records := 0
	for _, file := range files {
		state, err := record.VerifyAudit(bytes.NewReader(fixture.ReadFile(t, file)), check)
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
		check.After, check.Log = state.Hash, state.Log
		records += state.Records
	}
	if want := written + 100*processes; records != want {
		t.Errorf("%d records, want %d", records, want)
	}
}

// Another program writes 100 records and ends. Then somebody removes them, and a third one continues the log.
func TestRemovedRecordsOfAnotherProgramAreNoticed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var noticed []error
	log := &record.Audit{Path: path, HeadFile: path + ".head", Key: []byte("key"),
		OnError: func(err error) { noticed = append(noticed, err) }}
	fire(t, log)
	before := fixture.ReadFile(t, path)
	other := exec.Command(os.Args[0])
	other.Env = append(os.Environ(), sharedLog+"="+path)
	if output, err := other.CombinedOutput(); err != nil || len(output) > 0 {
		t.Fatalf("%v: %s", err, output)
	}
	if err := os.WriteFile(path, before, 0o600); err != nil {
		t.Fatal(err)
	}
	fire(t, log)
	const want = "it ends with record 1, but its head file with 101"
	if len(noticed) != 1 || !strings.Contains(noticed[0].Error(), want) || log.Head().Seq != 102 {
		t.Errorf("noticed %v, the head is %+v", noticed, log.Head())
	}
	_, err := record.VerifyAudit(bytes.NewReader(fixture.ReadFile(t, path)), record.AuditCheck{Key: []byte("key")})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("the check found %v", err)
	}
}

// A program keeps no record in the file of somebody else.
func TestAuditFollowsNoNewLink(t *testing.T) {
	dir := t.TempDir()
	path, victim := filepath.Join(dir, "audit.jsonl"), filepath.Join(dir, "victim")
	var reported []error
	log := &record.Audit{Path: path, OnError: func(err error) { reported = append(reported, err) }}
	fire(t, log)
	lost := 0
	for name, text := range map[string]string{
		"a text": "alias ls=exit\n", "half a line": "alias", "an empty file": "", "no file": "-",
	} {
		t.Run(name, func(t *testing.T) {
			missing := name == "no file"
			_ = os.Remove(victim)
			if !missing {
				if err := os.WriteFile(victim, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Rename(path, path+".moved"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink(victim, path); err != nil {
				t.Skip(err)
			}
			reported = nil
			fire(t, log)
			if got, err := os.ReadFile(victim); string(got) != text && !missing || (err != nil) != missing {
				t.Errorf("the victim has %q, %v", got, err)
			}
			if len(reported) != 1 || !strings.Contains(reported[0].Error(), "the log is a link") {
				t.Errorf("reported: %v", reported)
			}
			if err := os.Rename(path+".moved", path); err != nil {
				t.Fatal(err)
			}
			fire(t, log)
			lost++
			if state := verified(t, path, record.AuditCheck{}); state.Lost != lost {
				t.Errorf("the log is %+v, want %d lost events", state, lost)
			}
		})
	}
	verified(t, path, record.AuditCheck{})
}

func TestAuditsWithDifferentKeysShareNoLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	fire(t, &record.Audit{Path: path, Key: []byte("key")})
	var reported []error
	fire(t, &record.Audit{Path: path, Key: []byte("other"), OnError: func(err error) { reported = append(reported, err) }})
	if len(reported) != 1 || !strings.Contains(reported[0].Error(), "another key") {
		t.Errorf("reported: %v", reported)
	}
	verified(t, path, record.AuditCheck{Key: []byte("key")})
}

func TestAuditReadsLittleOfAHugeFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	var noticed []error
	log := &record.Audit{Path: path, OnError: func(err error) { noticed = append(noticed, err) }}
	fire(t, log)
	if err := os.Truncate(path, 1<<30); err != nil {
		t.Fatal(err)
	}
	fire(t, log)
	fire(t, log)
	if len(noticed) != 1 || !strings.Contains(noticed[0].Error(), "the log was changed") {
		t.Errorf("noticed: %v", noticed)
	}
	if head := log.Head(); head.Seq != 3 {
		t.Errorf("head: %+v", head)
	}
}
