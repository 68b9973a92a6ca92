package declared_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit"
)

// denies declares hooks that deny tools, by name.
func denies(tools ...string) string {
	var all []string
	for _, tool := range tools {
		all = append(all, fmt.Sprintf(`{"name": %q, "use": "permission.DenyTools", "with": {"Deny": [%q]}}`, tool, tool))
	}
	return `{"hooks": [` + strings.Join(all, ",\n") + `]}`
}

func TestLoadReplacesTheHooks(t *testing.T) {
	f := file(t, denies("a", "b"))
	hooks := new(agent.Hooks)
	own := hooks.OnPermission.AddFunc(
		func(context.Context, *agent.Run, agent.ToolCallRequest) (agent.OnPermissionOutcome, error) {
			return nil, nil
		},
		hookkit.Named("own"),
		hookkit.Priority(-1),
	)
	for _, c := range []struct {
		name, text string
		fails      bool
		want       []string
	}{
		{"first", denies("a", "b"), false, []string{"a", "b", "own"}},
		{"again", denies("a", "b"), false, []string{"a", "b", "own"}},
		{"changed", denies("b", "c"), false, []string{"b", "c", "own"}},
		{"broken", `{"hooks": [`, true, []string{"b", "c", "own"}},
		{"one mistake", denies("d", ""), true, []string{"b", "c", "own"}},
		{"empty", `{}`, false, []string{"own"}},
		{"filled", denies("e"), false, []string{"e", "own"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			write(t, f.Path, c.text)
			if err := f.Load(hooks); (err != nil) != c.fails {
				t.Errorf("error %v", err)
			}
			if got := names(hooks); !slices.Equal(got, c.want) {
				t.Errorf("the hooks are %q, want %q", got, c.want)
			}
		})
	}
	t.Run("unloaded", func(t *testing.T) {
		if !f.Unload() || f.Unload() || !slices.Equal(names(hooks), []string{"own"}) {
			t.Errorf("the hooks are %q", names(hooks))
		}
	})
	t.Run("loaded again", func(t *testing.T) {
		if err := f.Load(hooks); err != nil || !slices.Equal(names(hooks), []string{"e", "own"}) {
			t.Errorf("the hooks are %q, %v", names(hooks), err)
		}
	})
	t.Run("removed hooks of others", func(t *testing.T) {
		if !own.Remove() || !slices.Equal(names(hooks), []string{"e"}) {
			t.Errorf("the hooks are %q", names(hooks))
		}
	})
	t.Run("other Hooks", func(t *testing.T) {
		if err := f.Load(new(agent.Hooks)); err == nil {
			t.Error("one File is loaded twice")
		}
	})
}

// While runs go on, the file is replaced by something else, and then by a link to the file of the next version.
func TestAnUnreadableFileChangesNothing(t *testing.T) {
	f := file(t, denies("a"))
	hooks := load(t, f)
	for name, replace := range map[string]func() error{
		"missing":         func() error { return nil },
		"directory":       func() error { return os.Mkdir(f.Path, 0o700) },
		"link to nothing": func() error { return os.Symlink("nothing", f.Path) },
		"link to itself":  func() error { return os.Symlink(f.Path, f.Path) },
		"device":          func() error { return os.Symlink(os.DevNull, f.Path) },
	} {
		t.Run(name, func(t *testing.T) {
			if err := os.RemoveAll(f.Path); err != nil {
				t.Fatal(err)
			}
			if err := replace(); err != nil {
				t.Skip(err) // a system without links
			}
			if err := f.Load(hooks); err == nil || !slices.Equal(names(hooks), []string{"a"}) {
				t.Errorf("error %v, the hooks are %q", err, names(hooks))
			}
		})
	}
	t.Run("link", func(t *testing.T) {
		write(t, f.Path+".next", denies("b"))
		if err := os.RemoveAll(f.Path); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(f.Path+".next", f.Path); err != nil {
			t.Skip(err)
		}
		if err := f.Load(hooks); err != nil || !slices.Equal(names(hooks), []string{"b"}) {
			t.Errorf("error %v, the hooks are %q", err, names(hooks))
		}
	})
}

func TestAnUnchangedHookKeepsItsState(t *testing.T) {
	limited := `{"name": "limited", "use": "limit.Tools", "with": {"Limits": {"work": 1}}}`
	f := file(t, `{"hooks": [`+limited+`]}`)
	hooks, run := load(t, f), agent.NewRun(nil)
	call := func(id string) bool {
		c := agent.ToolCallRequest{ID: id, Name: "work", Step: 1}
		exit, err := hooks.BeforeTool.Fire(t.Context(), run, &c)
		return exit == nil && err == nil
	}
	if !call("1") {
		t.Fatal("the first call is refused")
	}
	write(t, f.Path, `{"hooks": [`+limited+`, {"name": "other", "use": "limit.Steps"}]}`)
	if err := f.Load(hooks); err != nil {
		t.Fatal(err)
	}
	if call("2") {
		t.Error("a reload has reset the count of calls")
	}
	write(t, f.Path, "{\"hooks\": [\n\n "+limited+`]}`)
	if err := f.Load(hooks); err != nil {
		t.Fatal(err)
	}
	if site := hooks.BeforeTool.List()[0].Site; site != f.Path+":3:2" {
		t.Errorf("the hook has moved, and its site is %s", site)
	}
}

// A writer changes the file again and again while fires are under way. Every version denies exactly one tool of the
// pair, so a fire that sees both versions denies both, and a fire that sees none denies none.
func TestFireSeesOneVersionOfTheFile(t *testing.T) {
	versions := []string{denies("a"), denies("b")}
	f := file(t, versions[0])
	hooks := load(t, f)
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for n := 0; ; n++ {
			select {
			case <-stop:
				return
			default:
			}
			write(t, f.Path, versions[n%2])
			if err := f.Load(hooks); err != nil && !strings.Contains(err.Error(), "unexpected end") { // half written
				t.Error(err)
			}
		}
	})
	for range 500 {
		if listed := names(hooks); len(listed) != 1 {
			t.Errorf("the hooks are %q", listed)
			break
		}
	}
	close(stop)
	writer.Wait()
}

func TestPrioritiesOrderTheHooks(t *testing.T) {
	hook := func(name, priority string) string {
		return `{"name": "` + name + `", "at": ["OnPermission"], "command": ["x"]` + priority + `}`
	}
	f := file(t, `{"hooks": [`+strings.Join([]string{
		hook("late", `, "priority": "observability"`), hook("first", `, "priority": 200`), hook("a", ""), hook("b", ""),
		hook("off", `, "enabled": false`), hook("last", `, "priority": -5`),
	}, ",")+`]}`)
	if got := names(load(t, f)); !slices.Equal(got, []string{"first", "a", "b", "late", "last"}) {
		t.Errorf("the order is %q", got)
	}
}
