package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// decides runs a guard for both kinds of address.
func decides(t *testing.T, name string, command ...string) {
	t.Helper()
	for to, want := range map[string]string{
		"you":     "not sent to you: not to strangers (remote " + name + ")\n",
		"team-go": "sent to team-go\n",
	} {
		var out strings.Builder
		if err := run(t.Context(), append([]string{"-to", to}, command...), &out); err != nil {
			t.Fatal(err)
		}
		if out.String() != want {
			t.Errorf("to %s: %q", to, out.String())
		}
	}
}

// needs skips the test if a program is not installed.
func needs(t *testing.T, program string) {
	t.Helper()
	if _, err := exec.LookPath(program); err != nil {
		t.Skipf("%s is not installed", program)
	}
}

func TestPythonGuardDecides(t *testing.T) {
	needs(t, "python3")
	decides(t, "python3", "python3", "guards/guard.py")
}

func TestShellGuardDecides(t *testing.T) {
	needs(t, "jq")
	decides(t, "sh", "-each", "sh", "guards/guard.sh")
}

func TestFailingGuardRefuses(t *testing.T) {
	var out strings.Builder
	err := run(t.Context(), []string{"-each", "sh", "-c", "cat >/dev/null; echo no"}, &out)
	if err == nil || out.Len() > 0 {
		t.Errorf("got %q, %v", out.String(), err)
	}
}

// tools returns the directory with the tools of package.json, which it installs. That takes a minute and the network,
// so the test is skipped unless LANGUAGES_NPM is set. If it is the path of a directory, the tools are installed there
// and stay.
func tools(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("LANGUAGES_NPM")
	switch {
	case dir == "":
		t.Skip("set LANGUAGES_NPM to install the tools of package.json and to check the types")
	case !filepath.IsAbs(dir):
		dir = t.TempDir()
	}
	copied(t, "package.json", filepath.Join(dir, "package.json"))
	cmd := exec.Command("npm", "install", "--no-audit", "--no-fund", "--no-package-lock")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return dir
}

// workshop returns a directory with the guards and the tools in it.
func workshop(t *testing.T, tools string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Symlink(filepath.Join(tools, "node_modules"), filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"guard.py", "guard.ts", "hooks.py", "hooks.ts"} {
		copied(t, filepath.Join("guards", name), filepath.Join(dir, name))
	}
	return dir
}

func copied(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// checkers are the type checks, for the file of a guard.
var checkers = map[string][]string{
	"guard.py": {"pyright", "guard.py"},
	"guard.ts": {"tsc", "--strict", "--module", "nodenext", "--target", "es2022", "--types", "node", "--outDir", "build",
		"guard.ts"},
}

// check runs the type check of a guard in a workshop.
func check(dir, guard string) (string, error) {
	args := checkers[guard]
	cmd := exec.Command(filepath.Join(dir, "node_modules", ".bin", args[0]), args[1:]...)
	cmd.Dir = dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func TestTypesInOtherLanguages(t *testing.T) {
	tools := tools(t)
	t.Run("are fresh", func(t *testing.T) {
		dir := t.TempDir()
		for lang, args := range map[string][]string{"py": nil, "ts": {"--just-types"}} {
			file := "hooks." + lang
			cmd := exec.Command(filepath.Join(tools, "node_modules", ".bin", "quicktype"), append([]string{
				"-s", "schema", "mail/schema/model.json#/$defs/", "--lang", lang, "-o", filepath.Join(dir, file),
			}, args...)...)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			got, err := os.ReadFile(filepath.Join(dir, file))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join("guards", file))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), string(got)); diff != "" {
				t.Errorf("run quicktype; guards/%s is not as it would be (-is +would be):\n%s", file, diff)
			}
		}
	})
	for _, guard := range []string{"guard.py", "guard.ts"} {
		t.Run("accept "+guard, func(t *testing.T) {
			dir := workshop(t, tools)
			if out, err := check(dir, guard); err != nil {
				t.Fatalf("%v:\n%s", err, out)
			}
			if guard == "guard.ts" {
				decides(t, "node", "node", filepath.Join(dir, "build", "guard.js"))
			}
		})
	}
	for _, c := range []struct {
		mistake, guard, right, wrong, says string
	}{
		{"a decision of another point", "guard.ts", `decision: "Refuse"`, `decision: "Deny"`, `"Deny"`},
		{"a field of no exit", "guard.ts", `reason: "not`, `reasn: "not`, "reasn"},
		{"a value of another type", "guard.ts", `reason: "not to strangers"`, `reason: 7`, "number"},
		{"a field of no payload", "guard.ts", "message.to.", "message.from.", "from"},
		{"an allowed exit that is not declared", "guard.ts", `decision: "continue" }`,
			`decision: "replace", value: message }`, `"replace"`},
		{"a decision of another point", "guard.py", "(DecisionRefuse.REFUSE", "(DecisionContinue.CONTINUE",
			"DecisionContinue"},
		{"an unknown decision", "guard.py", "DecisionRefuse.REFUSE", "DecisionRefuse.DENY", "DENY"},
		{"a field of no exit", "guard.py", `Refuse("not to`, `Refuse(reasn="not to`, "reasn"},
		{"a value of another type", "guard.py", `Refuse("not to strangers")`, "Refuse(7)", "Literal[7]"},
		{"a field of no payload", "guard.py", "message.to.", "message.sender.", "sender"},
	} {
		t.Run("refuse "+c.mistake+" in "+c.guard, func(t *testing.T) {
			dir := workshop(t, tools)
			path := filepath.Join(dir, c.guard)
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			changed := strings.Replace(string(text), c.right, c.wrong, 1)
			if changed == string(text) {
				t.Fatalf("%s has no %s", c.guard, c.right)
			}
			if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := check(dir, c.guard)
			if err == nil || !strings.Contains(out, c.guard) || !strings.Contains(out, c.says) {
				t.Errorf("%v:\n%s", err, out)
			}
		})
	}
}
