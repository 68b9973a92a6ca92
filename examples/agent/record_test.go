package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/builtin/permission"
	"github.com/hookgen/hookgen/builtin/repair"
	"github.com/hookgen/hookgen/generated/agent"
	"github.com/hookgen/hookgen/hookkit/hooklog"
)

// secret is a text that builtin/redact finds.
const secret = "sk-proj-Zx81kQp0Lm27Vt93Rw56Yb48"

// recorded runs the agent and returns its record.
func recorded(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.jsonl")
	play(t, "", "-yes", "-record", path, "Find out why the build is slow. The key is "+secret+".")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestTheRecordHasNoSecrets(t *testing.T) {
	text := recorded(t)
	if strings.Contains(text, secret) || !strings.Contains(text, "Find out why") {
		t.Errorf("the record is %s", text)
	}
}

// TestRecordShowsWhatAGuardWouldChange replays a run of the agent at its own hooks, and at hooks without one guard.
func TestRecordShowsWhatAGuardWouldChange(t *testing.T) {
	text := recorded(t)
	for _, c := range []struct {
		name string
		use  func(*agent.Hooks)
		want string
	}{
		{"the same hooks", func(h *agent.Hooks) { use(h, true) }, ""},
		{"without denyRemoval", func(h *agent.Hooks) {
			h.Use(&repair.LoopDetector{})
			h.Use(&permission.Confirm{Tools: []string{"run_command"}})
			h.Briefing.AddFunc(beBrief)
		}, "OnPermission: the decision was Deny and is Ask"},
	} {
		t.Run(c.name, func(t *testing.T) {
			hooks := new(agent.Hooks)
			c.use(hooks)
			var changes []string
			fires := 0
			for c, err := range hooklog.Replay(t.Context(), hooklog.Read(strings.NewReader(text)), hooks.Points()) {
				if err != nil {
					t.Error(err)
				}
				if fires++; c.Status != hooklog.Same {
					changes = append(changes, c.Was.Point+": "+c.Why)
				}
			}
			if got := strings.Join(changes, "\n"); got != c.want || fires < 10 {
				t.Errorf("of %d fires, the changes are:\n%s\nwant %s", fires, got, c.want)
			}
		})
	}
}
