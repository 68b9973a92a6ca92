package summary_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hookgen/hookgen/gen"
	"github.com/hookgen/hookgen/gen/summary"
)

// read summarizes a spec of several files, given as alternating names and texts.
func read(t *testing.T, files ...string) *summary.Spec {
	t.Helper()
	dir := t.TempDir()
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	spec, found := gen.Read(dir)
	if len(found) > 0 {
		t.Fatal(found)
	}
	return summary.Of(spec, "example.com/mail")
}

const mail = `// Package mail sends messages.
package mail

import (
	"time"

	"example.com/base"
	law "github.com/hookgen/hookgen/spec"
)

//hookgen:points
type Points interface {
	// BeforeSend fires before.
	//
	// Deprecated: use MaySend.
	BeforeSend(m Message) (law.Replace, law.Edit[Text], Later, Refuse, law.FailClosed)
	base.Points
	Votes
	OnSent(struct {
		Message
		At time.Time
	})
}

// Votes are votes.
type Votes interface {
	MaySend(Box[Message]) (law.Vote, law.Reverse, Refuse, law.Collect[map[string]Tag], law.FailOpen)
}

// Refuse refuses.
type Refuse struct {
	Reason string ` + "`json:\"reason\"`" + ` // for records
}

type Later struct{ Note }
type Note struct{ Reason string }

type Message struct {
	To   []Address
	Text Text
	next *Message
}
type Text string
`

const others = `package mail

// Account is the account.
type Account struct{ Name string; T string }

type Address = struct{ Name string; Home Home }

type Home struct{ Street string }

type Box[T any] struct { Value T; Next *Box[T] }

type T int

type Tag int

type Unused struct{ Home Home }
`

func TestModelHasEveryFactOfTheSpec(t *testing.T) {
	s := read(t, "spec.go", mail, "others.go", others)
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "package": "mail",
  "path": "example.com/mail",
  "doc": "Package mail sends messages.\n",
  "extends": [
    {
      "name": "base",
      "path": "example.com/base",
      "position": {"file": "spec.go", "line": 17, "col": 2}
    }
  ],
  "groups": [
    {
      "name": "Votes",
      "doc": "Votes are votes.\n",
      "position": {"file": "spec.go", "line": 26, "col": 6}
    }
  ],
  "points": [
    {
      "name": "BeforeSend",
      "doc": "BeforeSend fires before.\n\nDeprecated: use MaySend.\n",
      "deprecated": "Deprecated: use MaySend.",
      "position": {"file": "spec.go", "line": 16, "col": 2},
      "payload": "Message",
      "param": "m",
      "law": "flow",
      "policy": "fail-closed",
      "results": "Replace, Edit[Text], Later, Refuse, FailClosed",
      "replace": true,
      "edit": "Text",
      "editField": "Text",
      "exits": ["Later", "Refuse"]
    },
    {
      "name": "MaySend",
      "position": {"file": "spec.go", "line": 27, "col": 2},
      "groups": ["Votes"],
      "payload": "Box[Message]",
      "law": "vote",
      "policy": "fail-open",
      "results": "Vote, Reverse, Refuse, Collect[map[string]Tag], FailOpen",
      "reverse": true,
      "exits": ["Refuse"],
      "collect": "map[string]Tag"
    },
    {
      "name": "OnSent",
      "position": {"file": "spec.go", "line": 19, "col": 2},
      "payload": "struct{Message; At time.Time}",
      "law": "observe"
    }
  ],
  "exits": [
    {
      "name": "Refuse",
      "doc": "Refuse refuses.\n",
      "position": {"file": "spec.go", "line": 31, "col": 6},
      "points": ["BeforeSend", "MaySend"],
      "fields": [
        {"name": "Reason", "type": "string", "tag": "json:\"reason\"", "doc": "for records\n"}
      ]
    },
    {
      "name": "Later",
      "position": {"file": "spec.go", "line": 35, "col": 6},
      "points": ["BeforeSend"],
      "fields": [
        {"name": "Note", "type": "Note", "embedded": true}
      ]
    }
  ]
}`
	var got, wanted any
	for _, side := range []struct {
		text string
		into *any
	}{{string(text), &got}, {want, &wanted}} {
		if err := json.Unmarshal([]byte(side.text), side.into); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestTypesAreFollowedThroughFields(t *testing.T) {
	var got []string
	withEnv := strings.Replace(mail, "base.Points", "law.Env[*Account]", 1)
	for _, d := range read(t, "spec.go", withEnv, "others.go", others).Types {
		var fields []string
		for _, f := range d.Fields {
			fields = append(fields, f.Name+" "+f.Type.Text)
		}
		got = append(got, d.Name+": "+strings.Join(fields, ", "))
	}
	want := []string{
		"Message: To []Address, Text Text", "Address: Name string, Home Home", "Home: Street string", "Text: ",
		"Box: Value T, Next *Box[T]", "Tag: ", "Note: Reason string", "Account: Name string, T string",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("want -, got +:\n%s", diff)
	}
}

func TestBriefNamesLawAndPolicy(t *testing.T) {
	for _, test := range []struct{ method, brief, policy string }{
		{"P(int)", "observe", ""},
		{"P(int) spec.Reverse", "observe, reversed", ""},
		{"P(int) (X, spec.FailOpen)", "flow", "fails open"},
		{"P(Item) (spec.Replace, spec.Edit[Text], X, spec.Collect[int], spec.FailClosed)",
			"flow: replace, edit Body, collect int", "fails closed"},
		{"P(int) (spec.Vote, X, spec.FailClosed)", "vote", "fails closed"},
		{"P(int) spec.Collect[[]string]", "collect []string", "fails open"},
		{"P(int) spec.Check", "check", ""},
		{"P(int) (spec.Reverse, spec.Around[error])", "around error, reversed", ""},
	} {
		t.Run(test.method, func(t *testing.T) {
			p := read(t, "spec.go", "package p\nimport \"github.com/hookgen/hookgen/spec\"\ntype X struct{}\ntype Text string\n"+
				"type Item struct{ Body Text }\n//hookgen:points\ntype Points interface {\n"+test.method+"\n"+
				"Other(int) (X, spec.FailOpen)\n}\n").Points[0]
			if p.Brief() != test.brief || p.PolicyBrief() != test.policy {
				t.Errorf("got %q, %q", p.Brief(), p.PolicyBrief())
			}
		})
	}
}

func TestDifferentLawsHaveDifferentWords(t *testing.T) {
	spec, found := gen.Read("../../tests/fixture")
	if len(found) > 0 {
		t.Fatal(found)
	}
	laws := map[string]string{} // by their words
	for _, p := range summary.Of(spec, "").Points {
		law := fmt.Sprint(p.Kind, p.Policy, p.Reverse, p.Replace, p.Edit, p.Exits, p.Collects())
		words := p.LawWords() + " " + p.FailureWords()
		if other, ok := laws[words]; ok && other != law {
			t.Errorf("two laws have the same words: %s", words)
		}
		laws[words] = law
	}
	if len(laws) < 50 {
		t.Errorf("the fixture has only %d laws", len(laws))
	}
}
