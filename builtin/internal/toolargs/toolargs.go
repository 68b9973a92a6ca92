package toolargs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/internal/toolname"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/jsonscan"
)

// FoldName returns equal texts for names of arguments that a tool may decode as the same argument: mail_to, mailTo,
// MailTo, MAIL_TO and mail-to. The decoder of Go ignores case, and those of servers in other languages also accept both
// the snake case of a schema and the camel case of a field.
func FoldName(name string) string {
	folded := shorten.FoldCase(name)
	if bare := withoutSeparators.Replace(folded); bare != "" {
		return bare
	}
	return folded
}

var withoutSeparators = strings.NewReplacer("_", "", "-", "")

// Decode decodes the arguments of a call, which must be empty or a JSON object. It returns an error if a name occurs
// twice in an object, and for the names of the arguments also if they differ only in case.
func Decode(call agent.ToolCallRequest) (map[string]any, error) {
	args := map[string]any{}
	if len(bytes.TrimSpace(call.Args)) == 0 {
		return args, nil
	}
	if err := json.Unmarshal(call.Args, &args); err != nil {
		return nil, fmt.Errorf("the arguments are not a JSON object: %w", err)
	}
	if args == nil {
		return nil, errors.New("the arguments are null, not a JSON object")
	}
	name, twice := duplicate(call.Args, func(key string, level int) string {
		if level > 1 {
			return key
		}
		return shorten.FoldCase(key)
	})
	if twice {
		return nil, fmt.Errorf("the argument %q occurs twice", shorten.To(name, toolname.MaxStored))
	}
	return args, nil
}

// Duplicate returns a name that occurs twice in an object of the arguments, with or without the same case. Decoders
// disagree about the value of such a name.
func Duplicate(args []byte) (name string, twice bool) {
	return duplicate(args, func(key string, _ int) string { return shorten.FoldCase(key) })
}

// maxLevels is the deepest nesting that encoding/json decodes. A deeper value counts as a name that occurs twice.
const maxLevels = 10_000

// duplicate returns a name that occurs twice in one object. fold returns equal texts for names that are equal; the
// outermost object has level 1. Text after an error in the JSON is ignored.
func duplicate(data []byte, fold func(key string, level int) string) (name string, twice bool) {
	s := jsonscan.Scanner{Data: data}
	var value func(level int) bool
	value = func(level int) bool {
		if level == maxLevels {
			twice = true
			return false
		}
		switch s.Peek() {
		case '{':
			seen := make(map[string]bool)
			return s.Members(func(key []byte) bool {
				folded := fold(string(key), level+1)
				if seen[folded] {
					name, twice = string(key), true
					return false
				}
				seen[folded] = true
				return value(level + 1)
			})
		case '[':
			return s.Items(func() bool { return value(level + 1) })
		}
		_, ok := s.Value()
		return ok
	}
	s.Blank()
	value(0)
	return name, twice
}

// A Value is the value of an argument: a text, or a list of texts.
type Value struct {
	Texts []string
	List  bool
	Top   bool // an argument of the tool itself, not a member of another argument
}

// Values returns the values of the arguments whose names match names, at any depth. names is a list separated by
// commas, in which "*" matches any text. Names are compared as [FoldName] folds them. Arguments that are null are left
// out. Values returns an error if a value is neither a text nor a list of texts.
func Values(call agent.ToolCallRequest, names string) ([]Value, error) {
	args, err := Decode(call)
	if err != nil {
		return nil, err
	}
	var c collector
	for pattern := range strings.SplitSeq(strings.ReplaceAll(names, " ", ""), ",") {
		c.patterns = append(c.patterns, FoldName(pattern))
	}
	c.all = toolname.Match(c.patterns, "")
	err = c.object(args, true)
	return c.found, err
}

// A collector finds the values of arguments.
type collector struct {
	patterns []string
	all      bool // a pattern matches every name; then values that are not texts are ignored
	found    []Value
}

func (c *collector) object(args map[string]any, top bool) error {
	for name, value := range args {
		if err := c.add(name, value, toolname.Match(c.patterns, FoldName(name)), top); err != nil {
			return err
		}
	}
	return nil
}

// add adds the texts in a value. named says that its name is one of those to find.
func (c *collector) add(name string, value any, named, top bool) error {
	strict := named && !c.all
	switch v := value.(type) {
	case nil:
		return nil
	case string:
		if named {
			c.found = append(c.found, Value{Texts: []string{v}, Top: top})
		}
		return nil
	case []any:
		texts := Value{List: true, Top: top}
		for _, e := range v {
			if text, ok := e.(string); ok {
				texts.Texts = append(texts.Texts, text)
			} else if strict {
				return fmt.Errorf("the argument %s is a list with elements that are not texts",
					shorten.To(name, toolname.MaxStored))
			} else if err := c.add(name, e, named, false); err != nil {
				return err
			}
		}
		if named && len(texts.Texts) > 0 {
			c.found = append(c.found, texts)
		}
		return nil
	case map[string]any:
		if !strict {
			return c.object(v, false)
		}
	}
	if strict {
		return fmt.Errorf("the argument %s is not a text", shorten.To(name, toolname.MaxStored))
	}
	return nil
}
