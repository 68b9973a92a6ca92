package declared_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/hookgen/hookgen/builtin/declared"
)

// lines returns the JSON of a process that runs a shell script for each line. The script has the line and its id as
// $line and $id.
func lines(t testing.TB, each string) string {
	t.Helper()
	return script(t, `while read -r line; do id=${line#*'"id":'}; id=${id%%,*}; `+each+`; done`)
}

const (
	denyLine    = `printf '{"id":%s,"decision":"Deny","value":{"Reason":"%s"}}\n' $id $$`
	proceedLine = `printf '{"id":%s,"decision":"continue"}\n' $id`
)

func TestAProcessDecides(t *testing.T) {
	for _, c := range []struct{ name, each, more, want string }{
		{"continues", proceedLine, "", "allow"},
		{"denies", denyLine, "", "deny: "},
		{"reads the call", `case $line in *'"n":7'*) ` + denyLine + `;; esac`, "", "deny: "},
		{"is not selected by the tool", denyLine, `, "tools": ["other"]`, "allow"},
		{"is selected by the arguments", denyLine, `, "when": "args.n > 5"`, "deny: "},
		{"is not selected by the arguments", denyLine, `, "when": "args.n > 9"`, "allow"},
		{"has variables of the file", `test "$A" = b && ` + denyLine, `, "env": {"A": "b"}`, "deny: "},
		{"runs in the directory of the file", `test -f hooks.json && ` + denyLine, "", "deny: "},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := file(t, declare("process", lines(t, c.each), c.more))
			hooks := load(t, f)
			t.Cleanup(func() { f.Unload() })
			for range 2 {
				if got := permit(t, hooks, "work", `{"n":7}`); !strings.HasPrefix(got, c.want) {
					t.Errorf("got %q, want %q", got, c.want)
				}
			}
		})
	}
}

// A failing process refuses, or with "on_failure": "continue" it is reported. Both name the hook and the cause.
func TestAProcessFails(t *testing.T) {
	for _, c := range []struct{ name, each, cause string }{
		{"exits", `echo broken >&2; exit 3`, `exit status 3; it wrote to standard error: "broken"`},
		{"dies in the middle of the reply",
			`printf '{"id":1,"decision":"cont'; kill -9 $$`,
			`"{\"id\":1,\"decision\":\"cont"`},
		{"writes logs", `echo starting; ` + proceedLine, `the program wrote "starting"`},
		{"replies without the id", `echo '{"decision":"continue"}'`, "with the id of a request"},
		{"replies to nobody", `echo '{"id":99,"decision":"continue"}'`, "which waits for no reply"},
		{"writes an unknown decision", `printf '{"id":%s,"decision":"allow"}\n' $id`, `"allow"`},
		{"writes an unknown field", `printf '{"id":%s,"decision":"continue","allow":1}\n' $id`, "$.allow"},
		{"reports an error", `printf '{"id":%s,"error":"no database"}\n' $id`, "no database"},
		{"writes without an end", `yes | tr -d '\n'`, "more than 4194304 bytes"},
		{"answers nothing", `:`, "no reply within"},
	} {
		t.Run(c.name, func(t *testing.T) {
			limit := `, "timeout_seconds": 20`
			if c.each == ":" {
				limit = `, "timeout_seconds": 0.2`
			}
			process := lines(t, c.each)
			f := file(t, declare("process", process, limit))
			hooks := load(t, f)
			defer f.Unload()
			for range 2 { // it is started again
				want := `error: OnPermission: hook guard (` + f.Path +
					`:1:12): the hook "guard" (sh) failed at OnPermission after `
				if got := permit(t, hooks, "work", `{}`); !strings.HasPrefix(got, want) || !strings.Contains(got, c.cause) {
					t.Errorf("got %q, want %q", got, c.cause)
				}
			}
			var reported []string
			ignored := file(t, declare("process", process, limit+`, "on_failure": "continue"`))
			ignored.OnError = func(err error) { reported = append(reported, err.Error()) }
			defer ignored.Unload()
			if got := permit(t, load(t, ignored), "work", `{}`); got != "allow" || len(reported) != 1 ||
				!strings.Contains(reported[0], c.cause) {
				t.Errorf("got %q, reported %q", got, reported)
			}
		})
	}
}

// A process whose second reply answers nothing cannot be trusted: calls fail until it is started again.
func TestAProcessThatAnswersTwice(t *testing.T) {
	f := file(t, declare("process", lines(t, proceedLine+";"+proceedLine), ""))
	hooks := load(t, f)
	defer f.Unload()
	for range 100 {
		if got := permit(t, hooks, "work", `{}`); got != "allow" {
			if !strings.Contains(got, "the program replied to the id") {
				t.Errorf("got %q", got)
			}
			return
		}
	}
	t.Error("all calls had replies")
}

// pid returns the number of the process that denied, and gave its number as the reason.
func pid(t *testing.T, decision string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimPrefix(decision, "deny: "))
	if err != nil {
		t.Fatalf("got %q, want a denial by a process", decision)
	}
	return n
}

// runs reports whether a process exists. The processes of the tests are reaped when they end.
func runs(pid int) bool {
	p, err := os.FindProcess(pid)
	return err == nil && p.Signal(syscall.Signal(0)) == nil
}

func TestProcessLivesAsLongAsItsDeclaration(t *testing.T) {
	guard := `{"name": "guard", "at": ["OnPermission"], "process": ` + lines(t, denyLine)
	f := file(t, `{"hooks": [`+guard+`}]}`)
	hooks := load(t, f)
	ask := func() int { t.Helper(); return pid(t, permit(t, hooks, "work", `{}`)) }
	load := func(text string) {
		t.Helper()
		write(t, f.Path, text)
		if err := f.Load(hooks); err != nil {
			t.Error(err)
		}
	}
	first := ask()
	if ask() != first {
		t.Error("it was started for a second payload")
	}
	load(`{"hooks": [` + guard + `}, {"name": "short", "use": "limit.Steps"}]}`)
	if ask() != first {
		t.Error("a load that did not change it has started it again")
	}
	write(t, f.Path, `{"hooks": [`+guard+`}, {"name": "short", "use": "limit.Step"}]}`)
	if err := f.Load(hooks); err == nil || ask() != first {
		t.Errorf("a load that failed has started it again, or returned %v", err)
	}
	load(`{"hooks": [` + guard + `, "timeout_seconds": 5}]}`)
	second := ask()
	if second == first || runs(first) {
		t.Error("it was changed, and the old one runs")
	}
	load(`{"hooks": [` + guard + `, "enabled": false}]}`)
	if runs(second) {
		t.Error("it was disabled, and runs")
	}
	load(`{"hooks": [` + guard + `}]}`)
	third := ask()
	if !f.Unload() || runs(third) {
		t.Error("it was unloaded, and runs")
	}
}

// The file is unloaded while a fire is under way. The process answers the payload that it has, and then ends. A process
// that the same fire asks later is started for that payload.
func TestAnUnloadLetsFiresFinish(t *testing.T) {
	mkfifo, err := exec.LookPath("mkfifo")
	if err != nil {
		t.Skip("there is no mkfifo")
	}
	slow := `{"name": "slow", "at": ["OnPermission"], "process": ` + lines(t, "read -r x < gate; "+proceedLine) + `}`
	f := file(t, `{"hooks": [`+slow+`, {"name": "guard", "at": ["OnPermission"], "process": `+lines(t, denyLine)+`}]}`)
	gate := filepath.Join(filepath.Dir(f.Path), "gate")
	if out, err := exec.Command(mkfifo, gate).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	hooks := load(t, f)
	decision := make(chan string)
	go func() { decision <- permit(t, hooks, "work", `{}`) }()
	open, err := os.OpenFile(gate, os.O_WRONLY, 0) // waits until the process has its payload
	if err != nil {
		t.Fatal(err)
	}
	f.Unload()
	if _, err := open.WriteString("go\n"); err != nil {
		t.Error(err)
	}
	if err := open.Close(); err != nil {
		t.Error(err)
	}
	if n := pid(t, <-decision); runs(n) {
		t.Error("the process of a removed hook runs after its last reply")
	}
}

// Several agents that read one file have a process each.
func TestEachFileHasItsProcess(t *testing.T) {
	text := declare("process", lines(t, denyLine), "")
	a := file(t, text)
	b := &declared.File{Path: a.Path}
	defer a.Unload()
	defer b.Unload()
	if pid(t, permit(t, load(t, a), "work", `{}`)) == pid(t, permit(t, load(t, b), "work", `{}`)) {
		t.Error("two agents share a process")
	}
}
