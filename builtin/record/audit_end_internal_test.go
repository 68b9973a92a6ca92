package record

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// auditLog returns the lines of a log with n records, each with its newline.
func auditLog(t *testing.T, key []byte, n int) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	c := &auditChain{key: key}
	for range n {
		if err := c.append(t.Context(), auditFile{path: path}, "", eventOf("x")); err != nil {
			t.Fatal(err)
		}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
}

// endOf returns the end of a log that consists of a text, for a writer that remembers a head.
func endOf(t *testing.T, known AuditHead, key []byte, text string) chainEnd {
	t.Helper()
	c := &auditChain{head: known, key: key}
	end, err := c.end(linesBackward(strings.NewReader(text), int64(len(text))), "")
	if err != nil {
		t.Fatal(err)
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
		replaced = notContinued
		noted    = notRecords
	)
	start := lines[0] + lines[1]
	known := endOf(t, AuditHead{}, nil, start).AuditHead
	whole := strings.TrimSuffix(lines[4], "\n")
	for name, c := range map[string]struct {
		added  string
		seq    uint64
		broken string
		torn   bool
	}{
		"one record":                      {lines[2], 3, "", false},
		"all records":                     {lines[2] + lines[3] + lines[4], 5, "", false},
		"a record without its newline":    {lines[2] + lines[3] + whole, 5, "", false},
		"half a record":                   {partial, 2, "", true},
		"half a record, ended":            {partial + "\n", 2, "", true},
		"a record and half of one":        {lines[2] + partial, 3, "", true},
		"a note":                          {foreign, 2, noted, false},
		"a note without its newline":      {"a note", 2, noted, false},
		"a record and a note":             {lines[2] + foreign, 3, noted, false},
		"a record that skips one":         {lines[3], 4, replaced, false},
		"a record that is known":          {lines[1], 2, replaced, false},
		"a record that is known, open":    {strings.TrimSuffix(lines[1], "\n"), 2, replaced, false},
		"a record of another log":         {other[1], 2, replaced, false},
		"a changed record":                {strings.Replace(lines[2], `"x"`, `"y"`, 1), 2, noted, false},
		"a record and one of another log": {lines[2] + other[1], 3, replaced, false},
	} {
		t.Run(name, func(t *testing.T) {
			end := endOf(t, known, nil, start+c.added)
			if end.Seq != c.seq || end.broken != c.broken || (end.torn != "") != c.torn {
				t.Errorf("got %+v", end)
			}
		})
	}
	t.Run("with another key", func(t *testing.T) {
		if end := endOf(t, known, []byte("key"), start+lines[2]); end.Seq != 2 || end.broken == "" {
			t.Errorf("got %+v", end)
		}
	})
}

func TestLastRecordIsSearchedBackwards(t *testing.T) {
	lines := auditLog(t, nil, 3)
	all := strings.Join(lines, "")
	for name, c := range map[string]struct {
		text string
		seq  uint64 // 0: none is found
	}{
		"the last one":                     {all + "\n", 3},
		"without a newline":                {all, 3},
		"before a note":                    {all + "\na note\n", 3},
		"before empty lines":               {all + "\n\n\n", 3},
		"after an empty line":              {"\n" + lines[0], 1},
		"the first line":                   {lines[2], 3},
		"the second line":                  {"x\n" + lines[2], 3},
		"a record before a changed record": {lines[0] + strings.Replace(lines[1], `"x"`, `"y"`, 1), 1},
		"nothing":                          {"", 0},
		"empty lines":                      {"\n\n", 0},
	} {
		t.Run(name, func(t *testing.T) {
			if end := endOf(t, AuditHead{}, nil, c.text); end.Seq != c.seq {
				t.Errorf("got %+v", end)
			}
		})
	}
	t.Run("no record", func(t *testing.T) {
		c := new(auditChain)
		if end, err := c.end(linesBackward(strings.NewReader("a note\n"), 7), ""); err == nil {
			t.Errorf("got %+v", end)
		}
	})
}

func TestLinesAreReadBackward(t *testing.T) {
	long := strings.Repeat("x", 3*chunk)
	for _, text := range []string{
		"", "a", "a\n", "a\nb", "a\nb\n", "\n", "\n\n", "a\n\nb\n", "\na\n", long, long + "\n" + long + "\n",
		"a\n" + long + "\nb", strings.Repeat("abc\n", chunk/2),
	} {
		want := slices.Collect(strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n"))
		if strings.TrimSuffix(text, "\n") == "" && len(text) < 2 {
			want = nil
		}
		slices.Reverse(want)
		var got []string
		for line, err := range linesBackward(strings.NewReader(text), int64(len(text))) {
			if got = append(got, string(line)); err != nil {
				t.Error(err)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%.20q: %.100q", text, got)
		}
	}
}

func TestLinesOfKilledWritersAreRecognised(t *testing.T) {
	for data, want := range map[string]bool{
		`{`: true, `{"prot`: true, `{"protocol":1`: true, "": true,
		`{"protocol":1}`: false, `x`: false, `{}`: false, `{"protocols`: false,
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
	data := append([]byte("a\n"), bytes.Repeat([]byte("x"), maxAuditLine+128<<10)...)
	_, err := VerifyAudit(bytes.NewReader(append(data, "\nb\n"...)), AuditCheck{})
	if err == nil || !strings.Contains(err.Error(), "longer than") {
		t.Error(err)
	}
}
