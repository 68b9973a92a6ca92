package nats_test

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// body returns the lines of a function without indentation and blank lines.
func body(text string) (lines []string) {
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// readFile returns the text of a file.
func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestReadmeHasTheExample compares the program in README.md with the example that go test runs.
func TestReadmeHasTheExample(t *testing.T) {
	block := regexp.MustCompile("(?s)```go\n(.*?)```").FindStringSubmatch(readFile(t, "README.md"))
	if block == nil {
		t.Fatal("README.md has no program")
	}
	_, program, _ := strings.Cut(block[1], "func main() {")
	_, tested, _ := strings.Cut(readFile(t, "example_test.go"), "func Example() {")
	tested, _, _ = strings.Cut(tested, "\t// Output:")
	if got, want := body(program), append(body(tested), "}"); !slices.Equal(got, want) {
		t.Errorf("the program is\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// modules returns the modules of others that a package links.
func modules(t *testing.T, pkg string) []string {
	t.Helper()
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", pkg)
	list.Env = append(os.Environ(), "GOWORK=off", "GOOS=linux", "GOARCH=amd64")
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	all := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(out)))))
	return slices.DeleteFunc(all, func(m string) bool {
		return strings.HasPrefix(m, "github.com/hookgen/") || m == "github.com/google/jsonschema-go" // of loop
	})
}

// TestReadmeNamesTheLinkedModules compares the modules in README.md with those that programs link.
func TestReadmeNamesTheLinkedModules(t *testing.T) {
	client, server := modules(t, "."), modules(t, "./embedded")
	server = slices.DeleteFunc(server, func(m string) bool { return slices.Contains(client, m) })
	if slices.ContainsFunc(client, func(m string) bool { return strings.Contains(m, "nats-server") }) {
		t.Error("a program that only connects links the server")
	}
	text := strings.Join(strings.Fields(readFile(t, "README.md")), " ")
	for what, all := range map[string][]string{"links %d modules": client, "%d modules more": server} {
		if want := fmt.Sprintf(what, len(all)); !strings.Contains(text, want) {
			t.Errorf("README.md does not say %q", want)
		}
		for _, m := range all {
			if !strings.Contains(text, "`"+m+"`") {
				t.Errorf("README.md does not name %s", m)
			}
		}
	}
}

// TestReadmeNamesTheRoles compares the table of README.md with the users of server.conf.
func TestReadmeNamesTheRoles(t *testing.T) {
	readme, conf := readFile(t, "README.md"), readFile(t, "server.conf")
	for _, role := range roles {
		user := "$NATS_" + strings.ToUpper(role)
		if !strings.Contains(readme, "| "+role+" |") || !strings.Contains(conf, "nkey: "+user) {
			t.Errorf("README.md or server.conf has no %s", role)
		}
	}
}
