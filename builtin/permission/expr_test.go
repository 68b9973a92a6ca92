package permission_test

import (
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
)

func TestExpressionsCompareNamesWithoutCase(t *testing.T) {
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
	} {
		t.Run(c.source+" on "+c.args, func(t *testing.T) {
			if got := ruled(t, permission.Deny, permission.Expr(c.source), c.args); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
