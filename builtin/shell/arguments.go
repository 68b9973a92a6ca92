package shell

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/toolargs"
)

// A commandArg is an argument that contains a command: a text or, if words is not nil, the words of a command.
type commandArg struct {
	text      string
	words     []string
	excessive bool // there are too many commands to be checked
}

func (a commandArg) commands() ([]*Command, bool) {
	if a.excessive {
		return nil, false
	}
	if a.words == nil {
		return Parse(a.text)
	}
	return ParseWords(a.words)
}

// commandsIn returns the arguments with the names in fields, at any depth and in any spelling. Duplicate keys
// yield one result each. Some tools decode the first JSON value and ignore the rest, so text after a value does not
// hide it.
func commandsIn(args []byte, fields []string) (found []commandArg) {
	if len(bytes.TrimSpace(args)) == 0 {
		return nil
	}
	if json.Valid(args) {
		return commandsInValue(args, fields)
	}
	for d := json.NewDecoder(bytes.NewReader(args)); ; {
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return append(found, commandArg{text: string(args)})
		}
		found = append(found, commandsInValue(value, fields)...)
	}
}

// A commandSearch looks for commands in a JSON value.
type commandSearch struct {
	tokens *json.Decoder
	err    error
	fields []string
	found  []commandArg
}

// commandsInValue returns the arguments with the names in fields in one JSON value.
func commandsInValue(value []byte, fields []string) []commandArg {
	s := commandSearch{tokens: json.NewDecoder(bytes.NewReader(value)), fields: fields}
	s.tokens.UseNumber() // a number too large for float64 would end the decoding, and hide later arguments
	s.value(false, false)
	return s.found
}

func isName(fields []string, name string) bool {
	return slices.ContainsFunc(fields, func(f string) bool { return toolargs.FoldName(f) == toolargs.FoldName(name) })
}

func (s *commandSearch) next() (token json.Token) {
	token, s.err = s.tokens.Token()
	return token
}

// value reads a value, and returns the text or the texts of a list. A list that is named has the words of a command; if
// each is true, every text in it is a command.
func (s *commandSearch) value(named, each bool) (texts []string, isList bool) {
	switch t := s.next().(type) {
	case string:
		return []string{t}, false
	case json.Delim:
		if t == '{' {
			s.object()
			return nil, false
		}
		for s.err == nil && s.tokens.More() {
			if inner, isInner := s.value(named, each); !isInner {
				texts = append(texts, inner...)
			}
		}
		s.next()
		if named && texts != nil {
			s.found = append(s.found, commandArg{words: texts})
			for i := 0; each && i < len(texts); i++ {
				s.found = append(s.found, commandArg{text: texts[i]})
			}
		}
		return texts, true
	}
	return nil, false
}

// maxContinued is the most commands of one object that args can continue. More would take quadratic time.
const maxContinued = 16

// object reads the members of an object. Its commands are continued by the words in args.
func (s *commandSearch) object() {
	var commands [][]string
	var args []string
	for s.err == nil && s.tokens.More() {
		name, _ := s.next().(string)
		named := isName(s.fields, name)
		texts, isList := s.value(named, isName([]string{"commands"}, name))
		if named && !isList && texts != nil {
			s.found = append(s.found, commandArg{text: texts[0]})
		}
		words := texts
		if !isList {
			words = strings.Fields(strings.Join(texts, " "))
		}
		if named && texts != nil {
			commands = append(commands, words)
		}
		if isName(wordFields, name) {
			args = append(args, words...)
		}
	}
	s.next()
	switch {
	case len(args) == 0:
	case len(commands) > maxContinued:
		s.found = append(s.found, commandArg{excessive: true})
	default:
		for _, words := range commands {
			s.found = append(s.found, commandArg{words: slices.Concat(words, args)})
		}
	}
}
