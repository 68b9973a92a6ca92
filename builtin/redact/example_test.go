package redact_test

import (
	"fmt"

	"github.com/hookgen/hookgen/builtin/redact"
)

func ExampleRedactor() {
	var r redact.Redactor
	fmt.Println(r.Text("login --password hunter2 --user jane@example.org"))
	fmt.Println(string(r.JSON([]byte(`{"api_key": "abc", "max_tokens": 5}`))))
	// Output:
	// login --password [REDACTED] --user [REDACTED:email]
	// {"api_key":"[REDACTED]","max_tokens":5}
}
