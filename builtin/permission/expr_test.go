package permission_test

import (
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
)

func TestExpressionsFindNamesInAnySpelling(t *testing.T) {
	for _, c := range []struct {
		source, args, want string
	}{
		{`args.to == "evil"`, `{"to":"evil"}`, "deny"},
		{`args.to == "evil"`, `{"TO":"evil"}`, "deny"},
		{`args.to == "evil"`, `{"\u0074O":"evil"}`, "deny"},
		{`args["to"] == "evil"`, `{"To":"evil"}`, "deny"},
		{`args.TO == "evil"`, `{"to":"evil"}`, "deny"},
		{`args?.to == "evil"`, `{"TO":"evil"}`, "deny"},
		{`"to" in args`, `{"TO":"x"}`, "deny"},
		{`args.mail.to == "evil"`, `{"MAIL":{"To":"evil"}}`, "deny"},
		{`any(args.mails, .to == "evil")`, `{"mails":[{"to":"me"},{"TO":"evil"}]}`, "deny"},
		{`args.sizes[0] > 1`, `{"Sizes":[2]}`, "deny"},
		{`args.to == "evil"`, `{"to":"me"}`, ""},
		{`args.to == "evil"`, `{"to":"me","TO":"evil"}`, "deny"},
		{`args.to == "evil"`, `{"to":"evil","to":"me"}`, "deny"},
		{`args.mail.to == "evil"`, `{"mail":{"to":"evil","to":"me"}}`, "deny"},
		{`args.mail.to == "evil"`, `{"mail":{"to":"me","TO":"evil"}}`, "deny"},
		{`args.mail.to == "evil"`, `{"mail":{"to":"me","x":1,"X":2}}`, ""},
		{`args.to == "evil"`, `{"to":"Evil"}`, ""},
		{`args.mail_to == "evil"`, `{"mailTo":"evil"}`, "deny"},
		{`args.mail_to == "evil"`, `{"MailTo":"evil"}`, "deny"},
		{`args.mail_to == "evil"`, `{"MAIL_TO":"evil"}`, "deny"},
		{`args.mail_to == "evil"`, `{"mail-to":"evil"}`, "deny"},
		{`args.mailTo == "evil"`, `{"mail_to":"evil"}`, "deny"},
		{`args.mail_to == "evil"`, `{"mail_to":"me","mailTo":"evil"}`, "deny"},
		{`args.mail_to == "evil"`, `{"mail_too":"evil"}`, ""},
	} {
		t.Run(c.source+" on "+c.args, func(t *testing.T) {
			if got := ruled(t, permission.Deny, permission.Expr(c.source), c.args); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestFailedExpressionsNeverHold(t *testing.T) {
	for _, c := range []struct{ name, source, args, want string }{
		{"an invalid expression", `args.n >`, `{}`, "unexpected token"},
		{"invalid arguments", `args.n > 1`, `[]`, "not a JSON object"},
		{"another type", `args.n > 1`, `{"n":"x"}`, "invalid operation"},
		{"neither true nor false", `args.n`, `{"n":1}`, "invalid operation: bool"},
		{"a name twice", `args.mail.to == "me"`, `{"mail":{"to":"me","TO":"evil"}}`, "occurs twice"},
		{"a name in two spellings", `args.mail_to == "me"`, `{"mail_to":"me","mailTo":"evil"}`, "occurs twice"},
		{"a name twice in a list", `len(args.mails) > 0 && "to" != ""`, `{"mails":[{"to":"me","TO":"x"}]}`, "occurs twice"},
	} {
		t.Run(c.name, func(t *testing.T) {
			holds, err := permission.Expr(c.source).Match(asked("pay", c.args))
			if holds || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("holds: %t, error %v, want %q", holds, err, c.want)
			}
		})
	}
}
