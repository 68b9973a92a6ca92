package eventlog_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/cmd/hooklog/internal/eventlog"
)

// TestNamesAreBounded reads a record in which each event has another tenant and decision, of 1,000 bytes each.
func TestNamesAreBounded(t *testing.T) {
	const runs = 10_000
	x, path := open(t, "")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 1000)
	for n := range runs {
		e := event(int64(n), fmt.Sprint(n))
		e.Decision, e.Run.Labels = fmt.Sprint("D", n, long), map[string]string{"tenant": fmt.Sprint("t", n, long)}
		if _, err := f.WriteString(line(e)); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	before := heap()
	update(t, x)
	if used := heap() - before; used > 25<<20 { // 3 lists of at most 4 MB, and 10,000 events and runs
		t.Errorf("%d bytes of memory", used)
	}
	names := x.Names()
	if len(names.Tenants) != 300 || len(names.Decisions) != 300 || len(names.Outcomes) != 300 {
		t.Errorf("%d tenants, %d decisions, %d outcomes", len(names.Tenants), len(names.Decisions), len(names.Outcomes))
	}
	if n := names.Tenants[0]; n.Name != "(others)" || n.Fires < runs/2 {
		t.Errorf("the first tenant is %s with %d runs", n.Name, n.Fires)
	}
	found, _ := x.Find(t.Context(), eventlog.Query{Tenant: "(others)"}, runs, 10)
	if len(found) != 10 || found[0] != runs-1 {
		t.Errorf("the events %v have another tenant", found)
	}
	if e, _, err := x.Event(runs - 1); err != nil || e.Run.Labels["tenant"] != fmt.Sprint("t", runs-1, long) {
		t.Errorf("the last event is not read whole: %v", err)
	}
}
