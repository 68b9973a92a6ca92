package nats

import (
	"errors"
	"fmt"
	"strings"
)

// checkSubject returns an error unless a subject consists of tokens without wildcards.
func checkSubject(subject string) error {
	for token := range strings.SplitSeq(subject, ".") {
		if token == "" || strings.HasPrefix(token, "$") {
			return fmt.Errorf("the subject %q has an empty token or one that begins with $; use names, dots between them",
				subject)
		}
		if strings.ContainsFunc(token, func(c rune) bool {
			return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c == '-' || c == '_')
		}) {
			return fmt.Errorf("the subject %q has the token %q; use letters, digits, - and _, and no wildcards", subject, token)
		}
	}
	if len(subject) > maxPath {
		return errors.New("the subject is too long")
	}
	return nil
}
