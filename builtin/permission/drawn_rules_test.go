package permission_test

import (
	"fmt"
	"math/rand/v2"
	"path"
	"strconv"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
)

// TestDrawnRulesDecideByTheirDefinition compares drawn lists of rules with a short program that reads them from the
// beginning.
func TestDrawnRulesDecideByTheirDefinition(t *testing.T) {
	tools := strings.Fields("read read_file write write_file shell rm")
	globs := append(strings.Fields("* read* *_file write? sh*l"), tools...)
	decisions := []permission.Decision{permission.Allow, permission.Ask, permission.Deny}
	args := []string{`{"path":"open/a"}`, `{"path":"secret/a"}`, `{"path":7}`, `{}`, `{"path":"open/a","path":"secret/a"}`}
	rand := rand.New(rand.NewPCG(1, 2))
	const calls = 20_000
	kept := 0
	for range calls {
		rules := make([]permission.Rule, rand.IntN(6))
		for i := range rules {
			rules[i] = permission.Rule{Tool: globs[rand.IntN(len(globs))], Decision: decisions[rand.IntN(3)],
				Reason: fmt.Sprint(i)}
			if rand.IntN(2) == 0 {
				rules[i].Args = permission.PathGlob("path", "secret/**")
			}
		}
		hook := &permission.Rules{List: rules, Default: decisions[rand.IntN(3)]}
		tool, arg := tools[rand.IntN(len(tools))], args[rand.IntN(len(args))]

		want, skipped := permission.Decision(""), false
		for _, r := range rules {
			if ok, _ := path.Match(strings.ReplaceAll(r.Tool, "?", `\?`), tool); !ok {
				continue
			}
			invalid := r.Args != nil && (arg == args[2] || arg == args[4])
			switch {
			case invalid && r.Decision != permission.Deny:
				skipped = true
				continue
			case r.Args != nil && !invalid && arg != args[1]:
				continue
			}
			want = r.Decision
			break
		}
		switch {
		case want != "":
		case skipped:
			want = permission.Deny
		default:
			want = hook.Default
		}
		got, _, _ := strings.Cut(decided(t, hook, asked(tool, arg)), ":")
		if got != string(want) {
			t.Errorf("%+v with default %q: %s(%s) is %q, want %q", rules, hook.Default, tool, arg, got, want)
			continue
		}
		kept++
	}
	t.Attr("tried", strconv.Itoa(calls))
	t.Attr("kept", strconv.Itoa(kept))
}
