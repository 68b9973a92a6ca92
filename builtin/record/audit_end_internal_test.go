package record

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// auditLog returns the lines of a log with n records, each with its newline.
func auditLog(t *testing.T, key []byte, n int) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	for range n {
		if _, err := appendAudit(path, "", key, false, eventOf("x")); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
}

// endOf returns the end of a log that consists of lines.
func endOf(t *testing.T, lines ...string) chainEnd {
	t.Helper()
	end, ok := lastRecord([]byte(strings.Join(lines, "")), true, nil)
	if !ok {
		t.Fatal("no record")
	}
	return end
}

func TestAddedLinesMustContinueTheLog(t *testing.T) {
	lines := auditLog(t, nil, 5)
	lines[4] += "\n"
	other := auditLog(t, nil, 3)
	const (
		partial  = `{"protocol":1,"seq`
		foreign  = "a note\n"
		replaced = "records that do not continue it were added"
		noted    = "lines that are not its records were added"
	)
	known := endOf(t, lines[:2]...)
	whole := strings.TrimSuffix(lines[4], "\n")
	for name, c := range map[string]struct {
		added  string
		seq    uint64
		broken string
		torn   bool
		open   bool
	}{
		"one record":                      {lines[2], 3, "", false, false},
		"all records":                     {lines[2] + lines[3] + lines[4], 5, "", false, false},
		"a record without its newline":    {lines[2] + lines[3] + whole, 5, "", false, true},
		"half a record":                   {partial, 2, "", true, true},
		"half a record, ended":            {partial + "\n", 2, "", true, false},
		"a record and half of one":        {lines[2] + partial, 3, "", true, true},
		"a note":                          {foreign, 2, noted, false, false},
		"a note without its newline":      {"a note", 2, noted, false, true},
		"a record and a note":             {lines[2] + foreign, 3, noted, false, false},
		"a record that skips one":         {lines[3], 4, "", false, false},
		"a record that is known":          {lines[1], 2, replaced, false, false},
		"a record that is known, open":    {strings.TrimSuffix(lines[1], "\n"), 2, replaced, false, true},
		"a record of another log":         {other[1], 2, replaced, false, false},
		"a changed record":                {strings.Replace(lines[2], `"x"`, `"y"`, 1), 2, noted, false, false},
		"a record and one of another log": {lines[2] + other[1], 3, replaced, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			end := continued(known, []byte(c.added), nil)
			if end.Seq != c.seq || end.broken != c.broken || (end.torn != "") != c.torn || end.open != c.open {
				t.Errorf("got %+v", end)
			}
		})
	}
	t.Run("with another key", func(t *testing.T) {
		if end := continued(known, []byte(lines[2]), []byte("key")); end.Seq != 2 || end.broken != noted {
			t.Errorf("got %+v", end)
		}
	})
}

func TestLastRecordIsSearchedBackwards(t *testing.T) {
	lines := auditLog(t, nil, 3)
	all := strings.Join(lines, "")
	for name, c := range map[string]struct {
		data  string
		whole bool
		seq   uint64 // 0: none is found
	}{
		"the last one":                     {all + "\n", true, 3},
		"without a newline":                {all, true, 3},
		"before a note":                    {all + "\na note\n", true, 3},
		"before empty lines":               {all + "\n\n\n", true, 3},
		"the first line of a part":         {lines[2], false, 0},
		"the first line of a file":         {lines[2], true, 3},
		"the second line of a part":        {"x\n" + lines[2], false, 3},
		"a record before a changed record": {lines[0] + strings.Replace(lines[1], `"x"`, `"y"`, 1), true, 1},
		"no record":                        {"a note\n", true, 0},
		"nothing":                          {"", true, 0},
	} {
		t.Run(name, func(t *testing.T) {
			end, ok := lastRecord([]byte(c.data), c.whole, nil)
			if ok != (c.seq > 0) || end.Seq != c.seq {
				t.Errorf("got %+v, %t", end, ok)
			}
		})
	}
}

func TestLinesOfKilledWritersAreRecognised(t *testing.T) {
	for data, want := range map[string]bool{
		`{`: true, `{"prot`: true, `{"protocol":1`: true, "": true, "\n": true,
		"{\"protocol\":1\n{\"pro": true, `{"protocol":1}`: false, `x`: false, "{\"pro\nx": false, `{}`: false,
		`{"protocols`: false,
	} {
		t.Run(data, func(t *testing.T) {
			if got := isPartial([]byte(data)); got != want {
				t.Errorf("got %t", got)
			}
		})
	}
}

func TestLinesOfALogHaveALink(t *testing.T) {
	line := strings.TrimSuffix(auditLog(t, nil, 1)[0], "\n")
	keyed := strings.TrimSuffix(auditLog(t, []byte("key"), 1)[0], "\n")
	short := `"` + hashField[1:] + strings.Repeat("0", hashSize) + `"}`
	for name, c := range map[string]struct {
		line      string
		ok, keyed bool
	}{
		"a record":            {line, true, false},
		"a record with a key": {keyed, true, true},
		"no end":              {line[:len(line)-1], false, false},
		"another end":         {line[:len(line)-1] + "]", false, false},
		"another field":       {strings.Replace(line, `,"hash":"`, `,"mash":"`, 1), false, false},
		"no body":             {hashField + strings.Repeat("0", hashSize) + `"}`, false, false},
		"a short line":        {short[1:], false, false},
		"nothing":             {"", false, false},
		"no number":           {strings.Replace(line, `"seq":1,"prev"`, `"seq":0,"prev"`, 1), false, false},
		"invalid JSON":        {"x" + line, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			if l, ok := parseChainLine([]byte(c.line)); ok != c.ok || l.keyed != c.keyed {
				t.Errorf("got %+v, %t", l, ok)
			}
		})
	}
}

func TestLongRecordsAreRefused(t *testing.T) {
	record := func(n int) auditedEvent { return eventOf(strings.Repeat("x", n)) }
	line, _, err := chainedLine(record(1), chainLink{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	room := maxAuditLine - len(line) + 1
	if line, _, err := chainedLine(record(room), chainLink{}, nil); err != nil || len(line) != maxAuditLine {
		t.Errorf("%d bytes: %v", len(line), err)
	}
	if _, _, err := chainedLine(record(room+1), chainLink{}, nil); err == nil {
		t.Error("a longer record is accepted")
	}
}

func TestLongLinesEndTheReading(t *testing.T) {
	n, last := 0, error(nil)
	data := append([]byte("a\n"), bytes.Repeat([]byte("x"), maxAuditLine+128<<10)...)
	for _, err := range auditLines(bytes.NewReader(append(data, "\nb\n"...))) {
		n, last = n+1, err
	}
	if n != 2 || last == nil || !strings.Contains(last.Error(), "longer than") {
		t.Errorf("%d lines, %v", n, last)
	}
}
