package record

import (
	"strings"
	"testing"
)

// linesOf returns a log with records of the given links; each continues the one before unless it has another Prev.
func linesOf(key []byte, links ...chainLink) string {
	var b strings.Builder
	prev := ""
	for _, link := range links {
		if link.Prev == "" {
			link.Prev = prev
		}
		var line []byte
		line, prev = chained(eventOf("x").linked(link), key)
		b.Write(line)
	}
	return b.String()
}

// Somebody who knows the key, or a writer with a bug, leaves correct hashes. VerifyAudit also checks their numbers.
func TestVerifyAuditChecksNumbersAndLogs(t *testing.T) {
	key := []byte("k")
	at := func(seq uint64) chainLink { return chainLink{Log: "a", Seq: seq} }
	for name, c := range map[string]struct {
		links []chainLink
		check AuditCheck
		want  string // in the error; "": none
	}{
		"right":         {[]chainLink{at(1), at(2), at(3)}, AuditCheck{}, ""},
		"a gap":         {[]chainLink{at(1), at(3)}, AuditCheck{}, "line 2: its number is 3; want 2"},
		"twice":         {[]chainLink{at(1), at(1)}, AuditCheck{}, "its number is 1; want 2"},
		"backwards":     {[]chainLink{at(1), at(2), at(1)}, AuditCheck{}, "its number is 1; want 3"},
		"a late start":  {[]chainLink{at(2)}, AuditCheck{}, "its number is 2; want 1"},
		"continued":     {[]chainLink{{Log: "a", Seq: 7, Prev: "p"}, at(8)}, AuditCheck{After: "p"}, ""},
		"not continued": {[]chainLink{{Log: "a", Seq: 7, Prev: "p"}}, AuditCheck{After: "q"}, "does not continue"},
		"no After":      {[]chainLink{{Log: "a", Seq: 7, Prev: "p"}}, AuditCheck{}, "then pass After"},
		"another log":   {[]chainLink{at(1), {Log: "b", Seq: 2}}, AuditCheck{}, `it belongs to the log "b" and not to "a"`},
		"expected log":  {[]chainLink{at(1)}, AuditCheck{Log: "b"}, `it belongs to the log "a" and not to "b"`},
		"broken":        {[]chainLink{at(1), {Log: "a", Seq: 2, Broken: "x"}}, AuditCheck{}, `its writer noticed`},
		"torn": {[]chainLink{at(1), {Log: "a", Seq: 2, Torn: "x"}}, AuditCheck{},
			"an incomplete line before it was removed"},
		"head":      {[]chainLink{at(1)}, AuditCheck{Head: "x"}, "records were removed from its end"},
		"no number": {[]chainLink{at(0)}, AuditCheck{}, "not a record"},
	} {
		t.Run(name, func(t *testing.T) {
			c.check.Key = key
			state, err := VerifyAudit(strings.NewReader(linesOf(key, c.links...)), c.check)
			switch {
			case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
				t.Errorf("the error is %v, want %q", err, c.want)
			case c.want == "" && (state.Records != len(c.links) || state.Seq != c.links[len(c.links)-1].Seq || state.Log != "a"):
				t.Errorf("the state is %+v", state)
			}
		})
	}
}

func TestVerifyAuditListsAtMostTwentyProblems(t *testing.T) {
	links := []chainLink{{Log: "a", Seq: 1}}
	for range 50 {
		links = append(links, chainLink{Log: "b", Seq: 1})
	}
	for name, check := range map[string]AuditCheck{"without": {}, "with head": {Head: "x"}} {
		t.Run(name, func(t *testing.T) {
			_, err := VerifyAudit(strings.NewReader(linesOf(nil, links...)), check)
			if got := len(strings.Split(err.Error(), "\n")); got < 20 || got > 21 {
				t.Errorf("%d problems: %v", got, err)
			}
		})
	}
}

// The writer of a log that continues after log rotation takes the head of its own log only, and only a later one.
func TestWriterContinuesOnlyALaterHead(t *testing.T) {
	for name, c := range map[string]struct {
		head AuditHead
		want uint64
	}{
		"later":       {AuditHead{Log: "a", Seq: 9, Hash: strings.Repeat("ab", 32)}, 9},
		"earlier":     {AuditHead{Log: "a", Seq: 3, Hash: strings.Repeat("ab", 32)}, 5},
		"another log": {AuditHead{Log: "b", Seq: 9, Hash: strings.Repeat("ab", 32)}, 5},
		"missing":     {AuditHead{}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			file := t.TempDir() + "/head"
			if c.head.Log != "" {
				if err := writeHead(file, c.head); err != nil {
					t.Fatal(err)
				}
			}
			chain := auditChain{head: AuditHead{Log: "a", Seq: 5, Hash: "g"}}
			end, err := chain.end(linesBackward(strings.NewReader(""), 0), file)
			if err != nil || end.Seq != c.want || end.Log != "a" {
				t.Errorf("the end is %+v, %v", end, err)
			}
		})
	}
}

func TestReplacedLogsContinueOnlyTheirRecords(t *testing.T) {
	key := []byte("k")
	one := chainLink{Log: "a", Seq: 1}
	for name, c := range map[string]struct {
		text   string
		seq    uint64
		broken bool
	}{
		"the same record": {linesOf(key, one), 1, false},
		"later records":   {linesOf(key, one, chainLink{Log: "a", Seq: 2}), 2, false},
		"another log":     {linesOf(key, chainLink{Log: "b", Seq: 5}), 1, true},
		"another key":     {linesOf(nil, one, chainLink{Log: "a", Seq: 2}), 1, true},
		"an older record": {linesOf(key, chainLink{Log: "a", Seq: 1, Prev: "x"}), 1, true},
		"text":            {"hello\n", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			_, hash := chained(eventOf("x").linked(one), key)
			end := endOf(t, AuditHead{Log: "a", Seq: 1, Hash: hash}, key, c.text)
			if end.Seq != c.seq || (end.broken != "") != c.broken || end.Log != "a" {
				t.Errorf("the end is %+v", end)
			}
		})
	}
}
