package playground_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/hookgen/hookgen/site/playground"
)

// hooks returns hooks of mail: a right one for each law, each with one of the mistakes that authors make, and one with
// each token removed, and replaced by another.
func hooks() map[string]string {
	texts := map[string]string{}
	signatures := map[string][3]string{ // parameters after the payload, results, and a correct return
		"OnReceive":  {"", "error", "nil"},
		"BeforeSend": {"", "(mail.BeforeSendOutcome, error)", "mail.Refuse{}, nil"},
		"BeforeShow": {"", "(mail.BeforeShowOutcome, error)", `mail.EditBeforeShow("x", "y"), nil`},
		"OnRights":   {"", "(mail.OnRightsOutcome, error)", "mail.Grant{}, nil"},
		"Labels":     {"", "([]string, error)", `[]string{"a"}, nil`},
		"BeforeSave": {"", "error", "nil"},
		"AroundSend": {", next mail.AroundSendNext", "(hookkit.Answer[mail.Receipt], error)", "next.Call(ctx, m)"},
	}
	points := []string{"OnReceive", "BeforeSend", "BeforeShow", "OnRights", "Labels", "BeforeSave", "AroundSend"}
	for _, point := range points {
		s := signatures[point]
		method := fmt.Sprintf("func (h Hook) %s(ctx context.Context, run *mail.Run, m mail.Message%s) %s {\n\treturn %s\n}\n",
			point, s[0], s[1], s[2])
		text := "package hook\n\nimport (\n\t\"context\"\n\n\t\"example.com/play/mail\"\n\t" +
			"\"github.com/hookgen/hookgen/hookkit\"\n)\n\nvar _ = hookkit.Named\n\ntype Hook struct{}\n\n" +
			"func (h Hook) Bind(hooks *mail.Hooks) {\n\thooks." + point + ".Add(h, hookkit.Named(\"x\"))\n}\n\n" + method
		for mistake, change := range map[string][2]string{
			"payload":      {"m mail.Message", "m string"},
			"pointer":      {"m mail.Message", "m *mail.Message"},
			"run":          {"run *mail.Run", "run *hookkit.Run[string]"},
			"context":      {"ctx context.Context, run", "run"},
			"misspelled":   {") " + point + "(", ") " + point + "s("},
			"lower":        {") " + point + "(", ") on" + point + "("},
			"results":      {s[1] + " {", "(string, error) {"},
			"no results":   {s[1] + " {\n\treturn " + s[2], " {\n\treturn"},
			"outcome":      {"return " + s[2], "return mail.Receipt{}, nil"},
			"too many":     {"return " + s[2], "return " + s[2] + ", 1"},
			"undefined":    {"return " + s[2], "return missing(" + s[2] + ")"},
			"no such name": {"hooks." + point, "hooks." + point + "ed"},
			"option":       {`hookkit.Named("x")`, "hookkit.Async(nil)"},
			"option type":  {`hookkit.Named("x")`, "hookkit.Named(7)"},
			"function":     {".Add(h", ".AddFunc(h"},
			"observer":     {".Add(h", ".Observe(h"},
			"unused":       {"\treturn " + s[2], "\tn := 1\n\treturn " + s[2]},
			"import":       {"\t\"context\"\n", "\t\"context\"\n\t\"strings\"\n"},
		} {
			texts[point+" "+mistake] = strings.Replace(text, change[0], change[1], 1)
		}
		texts[point+" right"] = text
	}
	maps.Copy(texts, mutants("BeforeSend", texts["BeforeSend right"], "var _"))
	return texts
}

// TestHooksAreCheckedAsByTheCompiler compares the notes about hooks with the messages of go build. If both refuse
// the syntax, the messages are those of gofmt, whose parser the playground has.
func TestHooksAreCheckedAsByTheCompiler(t *testing.T) {
	texts := hooks()
	term, p := newTerminal(t), player(t)
	answer := p.Answer(playground.Question{Spec: mail})
	if len(answer.Spec) > 0 {
		t.Fatal(answer.Spec)
	}
	write(t, term.dir, "mail/spec.go", mail)
	write(t, term.dir, "mail/hooks_gen.go", answer.API)
	names := slices.Sorted(maps.Keys(texts))
	if testing.Short() {
		names = slices.DeleteFunc(names, func(name string) bool { return !strings.HasPrefix(name, "BeforeSend") })
	}
	for i, name := range names {
		write(t, term.dir, fmt.Sprintf("h%03d/hook.go", i), texts[name])
	}
	compiled := term.build("./...")
	unparsed := term.run("gofmt", "-e", ".")
	near := 0
	for dir := range unparsed {
		if len(compiled[dir]) > 0 && compiled[dir][0].Line == unparsed[dir][0].Line {
			near++
		}
	}
	t.Logf("the compiler refuses %d hooks of %d, %d of them for their syntax, and %d of these at the line of gofmt",
		len(compiled), len(names), len(unparsed), near)
	if near < len(unparsed)*95/100 || len(compiled)-len(unparsed) < 100 && !testing.Short() {
		t.Error("want at least 100 hooks with right syntax, and 95 % of the others refused at the line of gofmt")
	}
	for i, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := fmt.Sprintf("h%03d", i)
			want := compiled[dir]
			if len(want) > 0 && len(unparsed[dir]) > 0 {
				want = unparsed[dir]
				for i := range want {
					want[i].Message = "syntax error: " + want[i].Message
				}
			}
			got := p.Answer(playground.Question{Spec: mail, Hook: texts[name]}).Hook
			if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("compiler -, playground +:\n%s\n%s", diff, texts[name])
			}
		})
	}
}
