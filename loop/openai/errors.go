package openai

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// classified adds to an error of the server that the prompt is too long, that a retry is useless because the account
// has no money left, or the usual reason of the status 404.
func classified(err error) error {
	var e *Error
	if !errors.As(err, &e) || e.Err != nil {
		return err
	}
	switch {
	case e.Code == "insufficient_quota" || e.Type == "insufficient_quota":
		return e.Final()
	case tooLong(e):
		e.Err = &agent.PromptTooLong{Tokens: number(tokens, e.Message), Window: number(window, e.Message)}
		return e.Final()
	case e.Status == http.StatusNotFound:
		return fmt.Errorf("%w; check that URL ends with the version of the API, such as %s, and that the server has the "+
			"model of Name", err, DefaultURL)
	}
	return err
}

// tooLong reports whether the prompt exceeds the context window. Servers have no common code for it.
func tooLong(e *Error) bool {
	if !slices.Contains([]int{400, 413, 422, 500}, e.Status) {
		return false
	}
	if e.Code == "context_length_exceeded" || e.Type == "exceed_context_size_error" {
		return true
	}
	message := strings.ToLower(e.Message)
	return slices.ContainsFunc([]string{
		"context length", "context size", "context window", "prompt is too long", "prompt too long", "input is too long",
	}, func(text string) bool { return strings.Contains(message, text) })
}

// Numbers in the messages of OpenAI, vLLM and llama.cpp.
var (
	tokens = regexp.MustCompile(`(?:resulted in|requested|passed|request \(|at least) ?(\d{1,9}) (?:input )?tokens`)
	window = regexp.MustCompile(`(?:length is(?: only)?|size \(|limit of) ?(\d{1,9}) tokens`)
)

func number(in *regexp.Regexp, text string) int {
	found := in.FindStringSubmatch(text)
	if found == nil {
		return 0
	}
	n, _ := strconv.Atoi(found[1]) // at most nine digits
	return n
}

// statusOf returns the HTTP status that a server sends for an error outside of an answer.
func statusOf(kind, code string) int {
	if status, err := strconv.Atoi(code); err == nil && status >= 400 && status < 600 {
		return status
	}
	for _, name := range []string{code, kind} {
		switch name {
		case "rate_limit_error", "rate_limit_exceeded", "requests", "tokens":
			return 429
		case "insufficient_quota":
			return 402
		case "invalid_request_error", "context_length_exceeded", "exceed_context_size_error", "BadRequestError":
			return 400
		}
	}
	return 500
}
