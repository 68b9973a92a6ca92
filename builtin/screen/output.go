package screen

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/hookgen/hookgen/builtin/internal/jsonx"
	"github.com/hookgen/hookgen/builtin/internal/kit"
	"github.com/hookgen/hookgen/builtin/internal/shorten"
	"github.com/hookgen/hookgen/builtin/redact"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// Output checks and changes what tools return.
//
// It rewrites results at AfterTool, ten below the tier Mutation, after outputs were cut, and has no state. The
// validators run in order, each on what the one before left, and only on successful results. A rejection empties Output
// and sets Err to "output validation: " and the reason, so that the call is a failure everywhere. A validator that
// fails withholds the result: the point fails closed.
type Output struct {
	Validators []Validator // required
}

// A Validator looks at a tool's output. It must be safe for concurrent use.
type Validator interface {
	// Validate returns the output as it shall be, or why it is rejected, "" for not at all.
	Validate(ctx context.Context, call agent.ToolCallRequest, output string) (left, rejection string, err error)
}

// ValidatorFunc is a function as a validator.
type ValidatorFunc func(ctx context.Context, call agent.ToolCallRequest, output string) (left, rejection string, err error)

// Validate calls f.
func (f ValidatorFunc) Validate(ctx context.Context, call agent.ToolCallRequest, output string) (string, string, error) {
	return f(ctx, call, output)
}

// Bind adds the hook. No validators, and one that cannot work, panic.
func (v *Output) Bind(h *agent.Hooks) {
	kit.MustConfig("screen.Output", v.check())
	h.AfterTool.Add(v, hookkit.Priority(hookkit.Mutation-10))
}

func (v *Output) check() error {
	if len(v.Validators) == 0 {
		return errors.New("Validators is empty, so every output would pass; give one, such as LengthCap(2000)")
	}
	for i, one := range v.Validators {
		if one == nil {
			return fmt.Errorf("Validators[%d] is nil; give a validator or leave it out", i)
		}
		if c, ok := one.(interface{ check() error }); ok {
			if err := c.check(); err != nil {
				return fmt.Errorf("Validators[%d]: %w", i, err)
			}
		}
	}
	return nil
}

// AfterTool runs the validators.
func (v *Output) AfterTool(ctx context.Context, _ *agent.Run, result agent.ToolCallResult) (agent.AfterToolOutcome, error) {
	if result.Err != "" {
		return nil, nil
	}
	before := result.Output
	for i, one := range v.Validators {
		left, rejection, err := one.Validate(ctx, result.Call, result.Output)
		if err != nil {
			return nil, fmt.Errorf("validator %d (%T): %w", i, one, err)
		}
		if rejection != "" {
			result.Output, result.Err, result.Kind = "", "output validation: "+rejection, agent.FailRejected
			return agent.ReplaceAfterTool(result, "output rejected"), nil
		}
		result.Output = left
	}
	if result.Output == before {
		return nil, nil
	}
	return agent.ReplaceAfterTool(result, "output changed"), nil
}

// LengthCap is a validator that cuts text to most characters, its mark "(capped at n chars)" included, and rejects JSON
// over it, which would be none any more.
func LengthCap(most int) Validator { return lengthCap(most) }

type lengthCap int

func (n lengthCap) check() error {
	if n < 1 {
		return fmt.Errorf("LengthCap(%d); give 1 or more", int(n))
	}
	return nil
}

func (n lengthCap) Validate(_ context.Context, _ agent.ToolCallRequest, output string) (string, string, error) {
	size := utf8.RuneCountInString(output)
	if size <= int(n) {
		return output, "", nil
	}
	if json.Valid([]byte(output)) {
		return "", fmt.Sprintf("output size %d > %d (too large; narrow the query)", size, int(n)), nil
	}
	mark := fmt.Sprintf(" (capped at %d chars)", int(n))
	keep := max(int(n)-len(mark), 0)
	return shorten.To(shorten.Valid(output[:shorten.RuneOffset(output, keep)])+mark, int(n)), "", nil
}

// RedactPersonal is a validator that takes personal data out of an output, at any depth of JSON too: e-mail addresses,
// US telephone and social security numbers, card numbers whose check digit is right, account numbers; and what the
// given patterns match. In its place stands [redact.Redacted], or what As says.
func RedactPersonal(patterns ...*regexp.Regexp) Redaction {
	return Redaction{patterns, redact.Redacted}
}

// A Redaction is the validator that [RedactPersonal] makes.
type Redaction struct {
	patterns []*regexp.Regexp
	marker   string
}

// As returns the validator with another text in the place of what it takes out.
func (r Redaction) As(marker string) Redaction {
	r.marker = marker
	return r
}

func (r Redaction) check() error {
	for i, p := range r.patterns {
		if p == nil {
			return fmt.Errorf("screen.RedactPersonal: pattern %d is nil; give a pattern or leave it out", i)
		}
	}
	return nil
}

// Validate returns the output without personal data; JSON without any stays as it is written.
func (r Redaction) Validate(_ context.Context, _ agent.ToolCallRequest, output string) (string, string, error) {
	if jsonx.IsContainer(output) {
		if left, changed := jsonx.RewriteTexts([]byte(output), r.text); changed {
			return string(left), "", nil
		}
		return output, "", nil
	}
	return r.text(output), "", nil
}

func (r Redaction) text(s string) string {
	if left := redact.Personal(s); left != s {
		s = strings.ReplaceAll(left, redact.Redacted, r.marker)
	}
	for _, p := range r.patterns {
		s = p.ReplaceAllLiteralString(s, r.marker)
	}
	return s
}

// Schema is a validator that rejects an output that is no JSON or does not fit a JSON Schema, given as JSON. A
// schema that is none panics when the hook is used.
func Schema(schema string) Validator {
	c := &schemaCheck{}
	var s jsonschema.Schema
	if c.err = json.Unmarshal([]byte(schema), &s); c.err == nil {
		c.schema, c.err = s.Resolve(nil)
	}
	return c
}

type schemaCheck struct {
	schema *jsonschema.Resolved
	err    error
}

func (c *schemaCheck) check() error {
	if c.err != nil {
		return fmt.Errorf("screen.Schema: %w; give a JSON Schema", c.err)
	}
	return nil
}

func (c *schemaCheck) Validate(_ context.Context, _ agent.ToolCallRequest, output string) (string, string, error) {
	var value any
	if err := json.Unmarshal([]byte(output), &value); err != nil {
		return "", "the output is no JSON", nil
	}
	if err := c.schema.Validate(value); err != nil {
		return "", shorten.To(err.Error(), 500), nil
	}
	return output, "", nil
}
