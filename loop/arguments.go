package loop

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/internal/spelling"
)

// fits returns an error if the arguments do not match the entry.
func (e *entry) fits(args json.RawMessage, limit int) *agent.ToolError {
	unusable := func(format string, a ...any) *agent.ToolError {
		return &agent.ToolError{Kind: agent.FailArguments, Message: fmt.Sprintf(format, a...)}
	}
	if limit > 0 && len(args) > limit {
		return unusable("the arguments have %d bytes, the limit is %d; send less", len(args), limit)
	}
	if e.shape != nil && e.shape.accepts(args) {
		return nil
	}
	var value any
	if err := json.Unmarshal(args, &value); err != nil {
		return unusable("the arguments of %s are not JSON: %s; send one JSON object", e.schema.Name,
			shortened(err.Error()))
	}
	if nested(args, maxNesting) {
		return unusable("the arguments of %s have more than %d levels; use fewer", e.schema.Name, maxNesting)
	}
	err := recoverAsError("checking them", func() error { return e.args.Validate(value) })
	if err == nil {
		return nil
	}
	problem := misnamed(e.args.Schema(), value, "")
	if problem == "" {
		problem = shortened(err.Error())
	}
	return unusable("the arguments do not fit the parameters of %s: %s", e.schema.Name, problem)
}

// Bounds on an argument error. The text quotes the model and goes back to it.
const (
	maxUnknown = 5    // unknown properties
	maxListed  = 40   // names of properties
	maxQuoted  = 64   // bytes of a name
	maxProblem = 1000 // bytes of the problem
)

// misnamed describes the first object in value that has an unknown property or lacks a required one. It returns ""
// if there is none. The text names the allowed properties, so that the model can send the call again without a guess.
func misnamed(s *jsonschema.Schema, value any, at string) string {
	if s == nil {
		return ""
	}
	switch value := value.(type) {
	case map[string]any:
		if problem := wrongNames(s, value, at); problem != "" {
			return problem
		}
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if problem := misnamed(s.Properties[name], value[name], strings.TrimPrefix(at+"."+name, ".")); problem != "" {
				return problem
			}
		}
	case []any:
		for i, item := range value {
			if problem := misnamed(s.Items, item, fmt.Sprintf("%s[%d]", at, i)); problem != "" {
				return problem
			}
		}
	}
	return ""
}

// wrongNames describes the unknown and the missing properties of one object, or returns "".
func wrongNames(s *jsonschema.Schema, object map[string]any, at string) string {
	var missing, unknown []string
	for _, name := range s.Required {
		if _, given := object[name]; !given {
			missing = append(missing, name)
		}
	}
	for name := range object {
		if s.Properties[name] == nil {
			unknown = append(unknown, name)
		}
	}
	closed := isFalse(s.AdditionalProperties) && len(s.PatternProperties) == 0
	if len(missing) == 0 && (!closed || len(unknown) == 0) {
		return ""
	}
	known := slices.Sorted(maps.Keys(s.Properties))
	free := slices.DeleteFunc(slices.Clone(known), func(name string) bool { _, given := object[name]; return given })
	slices.Sort(unknown)
	var problems []string
	for _, name := range unknown[:min(len(unknown), maxUnknown)] {
		meant := spelling.Suggest(name, free)
		switch {
		case meant != "" && (closed || slices.Contains(missing, meant)):
			problems = append(problems, fmt.Sprintf("%s is not a property, did you mean %q?", quoted(name), meant))
		case closed:
			problems = append(problems, quoted(name)+" is not a property")
		}
	}
	for _, name := range missing {
		problems = append(problems, fmt.Sprintf("%q is missing", name))
	}
	if at != "" {
		at = "in " + shortened(at) + ", "
	}
	return at + shortened(strings.Join(problems, ", ")) + "; " + listed(s, known)
}

// listed names the properties of a schema for a model.
func listed(s *jsonschema.Schema, known []string) string {
	if len(known) == 0 {
		return "there are no properties"
	}
	var names []string
	for _, name := range known[:min(len(known), maxListed)] {
		if slices.Contains(s.Required, name) {
			name += " (required)"
		}
		names = append(names, name)
	}
	if more := len(known) - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return "the properties are: " + strings.Join(names, ", ")
}

func quoted(name string) string {
	if len(name) > maxQuoted {
		return fmt.Sprintf("%q...", prefix(name, maxQuoted))
	}
	return fmt.Sprintf("%q", name)
}

func shortened(text string) string {
	if len(text) <= maxProblem {
		return text
	}
	return prefix(text, maxProblem) + "..."
}

// prefix returns the first n bytes of a longer text, without the rest of a character.
func prefix(text string, n int) string {
	return strings.ToValidUTF8(text[:n], "")
}
