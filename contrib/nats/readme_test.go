package nats_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/tests/readmetest"
)

// readFile returns the text of a file.
func readFile(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestReadmeHasTheExample(t *testing.T) { readmetest.CheckExample(t, "nats") }

// modules returns the modules of others that a package links.
func modules(t *testing.T, pkg string) []string {
	t.Helper()
	return slices.DeleteFunc(readmetest.Foreign(t, pkg), func(m string) bool {
		return m == "github.com/google/jsonschema-go" // of loop
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
