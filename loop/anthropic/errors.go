package anthropic

import (
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"github.com/hookgen/hookgen/generated/agent"
)

// statusOf returns the HTTP status that the API sends for a type of error outside of an answer.
func statusOf(kind string) int {
	switch kind {
	case "invalid_request_error":
		return 400
	case "authentication_error":
		return 401
	case "billing_error":
		return 402
	case "permission_error":
		return 403
	case "not_found_error":
		return 404
	case "request_too_large":
		return 413
	case "rate_limit_error":
		return 429
	case "timeout_error":
		return 504
	case "overloaded_error":
		return 529
	}
	return 500
}

// Messages about a prompt that is too long, alone or together with the limit of the reply.
var (
	promptTooLong = regexp.MustCompile(`prompt is too long:? ?(?:(\d{1,9}) tokens > (\d{1,9}))?`)
	sumTooLong    = regexp.MustCompile(`exceed context limit: (\d{1,9}) \+ (\d{1,9}) > (\d{1,9})`)
)

// classified adds to an error of the server that the prompt is too long, or the usual reason of the status 404.
func classified(err error) error {
	var e *Error
	if errors.As(err, &e) && e.Err == nil && e.Status == http.StatusNotFound {
		return fmt.Errorf("%w; check that URL ends with the version of the API, such as %s, and that the server has the "+
			"model of Name", err, DefaultURL)
	}
	if !errors.As(err, &e) || e.Err != nil || e.Status != 400 && e.Status != 413 {
		return err
	}
	number := func(s string) int {
		n, _ := strconv.Atoi(s) // "", or at most nine digits
		return n
	}
	if found := promptTooLong.FindStringSubmatch(strings.ToLower(e.Message)); found != nil {
		e.Err = &agent.PromptTooLong{Tokens: number(found[1]), Window: number(found[2])}
	} else if found := sumTooLong.FindStringSubmatch(strings.ToLower(e.Message)); found != nil {
		e.Err = &agent.PromptTooLong{Tokens: number(found[1]) + number(found[2]), Window: number(found[3])}
	} else if e.Type == "request_too_large" || e.Status == 413 {
		e.Err = &agent.PromptTooLong{}
	}
	return err
}
