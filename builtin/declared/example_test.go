package declared_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/hookgen/hookgen/builtin/declared"
	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/generated/agent"
)

func ExampleFile() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	file := &declared.File{
		Path:  filepath.Join(dir, "hooks.json"),
		Ready: []declared.Ready{declared.Of[permission.DenyTools]()},
	}
	declare := func(text string) {
		if err := os.WriteFile(file.Path, []byte(text), 0o600); err != nil {
			log.Fatal(err)
		}
	}
	hooks := new(agent.Hooks)
	ask := func() {
		exit, by, err := hooks.OnPermission.FireBy(
			context.Background(),
			agent.NewRun(nil),
			agent.ToolCallRequest{Name: "shell"},
		)
		fmt.Printf("%+v by %q, %v\n", exit, by.Hook, err)
	}

	declare(`{"hooks": [{"name": "no shell", "use": "permission.DenyTools", "with": {"Deny": ["shell"]}}]}`)
	fmt.Println(file.Load(hooks))
	ask()
	declare(`{"hooks": []}`)
	fmt.Println(file.Load(hooks))
	ask()
	// Output:
	// <nil>
	// {Reason:tool shell is denied by policy} by "no shell", <nil>
	// <nil>
	// <nil> by "", <nil>
}
