package callsite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
)

func TestSitePathIsRelativeToTheModule(t *testing.T) {
	const module, main = "example.com/shipit", "example.com/shipit/cmd/shipit"
	for name, c := range map[string]struct{ function, file, module, main, want string }{
		"package of the module":    {module + "/deploy.Run", "/src/deploy/run.go", module, main, "deploy/run.go"},
		"package at the root":      {module + ".Run", "/src/run.go", module, main, "run.go"},
		"nested package":           {module + "/a/b/c.Run", "/src/a/b/c/run.go", module, main, "a/b/c/run.go"},
		"main package":             {"main.main", "/src/cmd/shipit/main.go", module, main, "cmd/shipit/main.go"},
		"main package at the root": {"main.main", "/src/main.go", module, module, "main.go"},
		"module of one element":    {"main.main", "/src/main.go", "hello", "hello", "main.go"},
		"main under test": {
			main + ".TestMain",
			"/src/cmd/shipit/main_test.go",
			module,
			main + ".test",
			"cmd/shipit/main_test.go",
		},
		"external test package": {
			module + "/deploy_test.TestRun",
			"/src/deploy/run_test.go",
			module,
			main,
			"deploy/run_test.go",
		},
		"external test at the root":    {module + "_test.TestRun", "/src/shipit/run_test.go", module, main, "run_test.go"},
		"directory that ends in _test": {module + "/e2e_test.Run", "/src/e2e_test/run.go", module, main, "e2e_test/run.go"},
		"external test of such a one": {
			module + "/e2e_test_test.TestRun",
			"/src/e2e_test/x_test.go",
			module,
			main,
			"e2e_test/x_test.go",
		},
		"closure": {
			module + "/deploy.Run.func1.2",
			"/src/deploy/run.go",
			module,
			main,
			"deploy/run.go",
		},
		"method": {
			module + "/deploy.(*Plan).Run-fm",
			"/src/deploy/run.go",
			module,
			main,
			"deploy/run.go",
		},
		"generic function":    {module + "/deploy.Run[...]", "/src/deploy/run.go", module, main, "deploy/run.go"},
		"dotted last element": {module + "/v2%2e1.Run", "/src/v2.1/run.go", module, main, "v2.1/run.go"},
		"dependency": {
			"example.com/lib/hooks.Bind",
			"/mod/example.com/lib@v1.2.3/hooks/bind.go",
			module,
			main,
			"example.com/lib/hooks/bind.go",
		},
		"dependency at its root": {
			"example.com/lib.Bind",
			"/mod/example.com/lib@v1.2.3/bind.go",
			module,
			main,
			"example.com/lib/bind.go",
		},
		"dotted dependency": {
			"gopkg.in/lib%2ev3.Bind",
			"/mod/gopkg.in/lib.v3@v3.0.1/bind.go",
			module,
			main,
			"gopkg.in/lib.v3/bind.go",
		},
		"dependency with a like prefix": {
			"example.com/shipits.Bind",
			"/mod/example.com/shipits@v1.0.0/bind.go",
			module,
			main,
			"example.com/shipits/bind.go",
		},
		"standard library": {
			"net/http.HandlerFunc.ServeHTTP",
			"/go/src/net/http/server.go",
			module,
			main,
			"net/http/server.go",
		},
		"short standard library": {"slices.SortFunc", "/go/src/slices/sort.go", module, main, "slices/sort.go"},
		"go run of files":        {"main.main", "/home/ann/try/main.go", "", "command-line-arguments", "try/main.go"},
		"go run of files in a module": {
			"main.main",
			"/home/ann/try/main.go",
			module,
			"command-line-arguments",
			"try/main.go",
		},
		"dependency of such files": {
			"example.com/lib/hooks.Bind",
			"/mod/example.com/lib@v1.2.3/hooks/bind.go",
			"",
			"command-line-arguments",
			"hooks/bind.go",
		},
		"no build info":              {module + "/deploy.Run", "/src/deploy/run.go", "", "", "deploy/run.go"},
		"main without build info":    {"main.main", "/src/cmd/shipit/main.go", "", "", "shipit/main.go"},
		"Windows":                    {"main.main", `C:\src\cmd\shipit\main.go`, module, main, "cmd/shipit/main.go"},
		"Windows without build info": {"main.main", `C:\src\cmd\shipit\main.go`, "", "", "shipit/main.go"},
		"trimmed path":               {module + "/deploy.Run", module + "/deploy/run.go", module, main, "deploy/run.go"},
		"no function":                {"", "/src/deploy/run.go", module, main, "deploy/run.go"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := sitePath(c.function, c.file, c.module, c.main); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// The build info of real programs, which the table above assumes.
func TestCallsInBuiltPrograms(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds programs")
	}
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	const site = `fmt.Println(hookimpl.Trace(nil, new(hookkit.TraceRecorder)).Site())`
	const imports = "import (\n\"fmt\"\n\"github.com/hookgen/hookgen/hookkit\"\n" +
		"\"github.com/hookgen/hookgen/hookkit/hookimpl\"\n)\n"
	function := func(name string) string { return "func " + name + "() { trace() }\nfunc trace() { " + site + " }\n" }
	write("go.mod", "module example.com/shipit\n\ngo 1.26\n\nrequire github.com/hookgen/hookgen v0.0.0\n\n"+
		"replace github.com/hookgen/hookgen => "+strconv.Quote(root)+"\n")
	write("cmd/shipit/main.go", "package main\n"+imports+function("main"))
	for name, c := range map[string]struct{ dir, arg, want string }{
		"package": {".", "./cmd/shipit", "cmd/shipit/main.go:7"},
		"file":    {"cmd/shipit", "main.go", "shipit/main.go:7"},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("go", "run", "-mod=mod", c.arg)
			cmd.Dir = filepath.Join(dir, c.dir)
			cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOPROXY=off")
			out, err := cmd.CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != c.want {
				t.Errorf("go run printed %s, %v, want %s", got, err, c.want)
			}
		})
	}
}

func TestCallOfATest(t *testing.T) {
	site := func() string { return Of(1) }
	got := site()
	_, _, line, _ := runtime.Caller(0)
	if want := fmt.Sprintf("hookkit/internal/callsite/callsite_test.go:%d", line-1); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
