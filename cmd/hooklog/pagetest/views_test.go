package pagetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/hookkit/wire"
)

// openAgent opens the page of an agent's record, with its last run.
func (p *tab) openAgent() {
	p.t.Helper()
	p.write(agentStory()...)
	p.open()
	p.until(`document.querySelector('.bar-of')`)
}

func drawsBars(t *testing.T, p *tab) {
	p.openAgent()
	lanes := get[[]string](p, `[...document.querySelectorAll('.lane')].map(l => l.ariaLabel)`)
	want := []string{
		"People, 1 bar, 6.0 s", "Model, 3 bars, 4.0 s", "Tools, 2 bars, 2.6 s", "Hooks, 21 bars, 231 ms",
		"List what nobody has used for a week, 9 fires",
	}
	if strings.Join(lanes, "\n") != strings.Join(want, "\n") {
		t.Errorf("the lanes are %q, want %q", lanes, want)
	}
	names := get[string](p, `[...document.querySelectorAll('.bar-of')].map(l => l.ariaLabel).join('\n')`)
	for _, name := range []string{
		"People: shell, 6.0 s, at +6.4 s", "Model: large-3, 1.3 s, at +", "Tools: shell, 2.0 s, at +12.4 s",
		"Hooks: OnPermission, 40 µs, at +12.4 s, Deny", "Hooks: BeforeLLM, 230 ms, at +4.7 s, slow",
		"Hooks: AfterTool, 40 µs, at +2.0 s, replace", "Runs: List what nobody has used for a week, 1.7 s, at +2.0 s",
	} {
		if !strings.Contains(names, name) {
			t.Errorf("no bar is %q:\n%s", name, names)
		}
	}
	inside := get[bool](p, `(() => {
		const track = document.querySelector('.track').getBoundingClientRect();
		return [...document.querySelectorAll('.bar-of')].every(b => {
			const r = b.getBoundingClientRect();
			return r.left >= track.left - 1 && r.right <= track.right + 5;
		});
	})()`)
	if !inside {
		t.Error("a bar is outside the axis")
	}
	p.do(chromedp.Click(chromedp.CSS(".bar-of.person")))
	p.until(`document.querySelector('.detail') && document.activeElement.innerText.includes('OnPermissionGranted')`)
	p.do(chromedp.Click(chromedp.CSS(".bar-of.run")))
	p.until(`document.querySelector('main h2').innerText === 'List what nobody has used for a week'`)
}

// drawsBarsOfAnySpec draws the time between BeforeX and AfterX.
func drawsBarsOfAnySpec(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend"), event(3, "a", "BeforeSend"), event(4, "a", "AfterSend"),
		event(7, "a", "AfterSend"), event(8, "a", "OnClose", failed))
	p.open()
	p.until(`document.querySelectorAll('.bar-of.step').length === 2`)
	names := get[string](p, `[...document.querySelectorAll('.bar-of')].map(l => l.ariaLabel).join('\n')`)
	for _, name := range []string{
		"Steps: Send, 3.0 s, at +", "Steps: Send, 4.0 s, at +", "Hooks: OnClose, 2 µs, at +7.0 s, failed",
	} {
		if !strings.Contains(names, name) {
			t.Errorf("no bar is %q:\n%s", name, names)
		}
	}
}

func showsConversation(t *testing.T, p *tab) {
	p.openAgent()
	p.do(chromedp.Click(`//button[.='Conversation']`))
	p.until(`document.querySelector('.talk .turn.end')`)
	p.want(".turn.user", "Task", "Free space on the build server, at least 20 GB")
	p.want(".turn.assistant", "large-3", "took 1.3 s", "I look at the caches first.", "shell",
		`"command": "du -s /var/cache/*"`)
	p.want(".turn.tool", "21G /var/cache/build", "[REDACTED:token]", "redact.Results", "a secret in the output")
	p.want(".turn.tool .removed", "token hunter2")
	p.want(".turn.person", "asked", "it removes files", "approved", "denied", "git push --force is never allowed")
	p.want(".turn.sub", "List what nobody has used for a week", "completed")
	p.want(".turn.end", "completed")
	if n := get[int](p, `document.querySelectorAll('.turn.system').length`); n != 1 {
		t.Errorf("%d prompts are shown, want the first one", n)
	}
	p.click(".turn.system summary")
	p.want(".turn.system", "You keep a build server tidy.")
	p.click(".turn.sub button")
	p.until(`document.querySelector('main h2').innerText === 'List what nobody has used for a week' &&
		document.querySelector('.talk .turn.end')`)
	p.click(".turn.tool button")
	p.until(`document.querySelector('.detail') && document.activeElement.innerText.includes('AfterTool')`)
}

func showsNumbers(t *testing.T, p *tab) {
	p.openAgent()
	p.click("#numbers")
	p.until(`document.querySelectorAll('main table').length === 4`)
	p.want("main", "63 fires in 5 runs, 1 sub-run included", "completed", "steps_limit", "OnPermission",
		"redact.Results main.go:31", "Deny 1")
	p.do(chromedp.Click(`//main//button[.='completed']`))
	p.until(`document.getElementById('list-title').innerText === '2 runs found'`)
	p.want("#active", "Outcome: completed")
}

func comparesRuns(t *testing.T, p *tab) {
	p.openAgent()
	p.do(chromedp.Click(`//button[.='Compare']`))
	p.until(`!document.getElementById('comparing').hidden`)
	p.want("#comparing", "Choose the run to compare with Free space on the build server")
	p.click("#list li:last-child button")
	p.until(`document.querySelector('.pair')`)
	p.want("main table", "Free space on the build server", "How many packages were built?", "15.6 s", "1.7 s",
		"0.034", "0.011")
	statuses := get[string](p, `[...document.querySelectorAll('.pair .status')].map(e => e.innerText).join(' ')`)
	if !strings.HasPrefix(statuses, "other payload same other payload") || !strings.Contains(statuses, "only left") {
		t.Errorf("the pairs are %s", statuses)
	}
	p.click(".pair .row")
	p.until(`document.querySelector('.pair .removed')`)
	p.want(".pair .removed", "Free space on the build server")
	p.want(".pair .added", "How many packages were built?")
	p.do(chromedp.Reload())
	p.until(`document.querySelector('.pair')`)
}

// comparesAll compares fires with one payload and other results, and long texts that differ at their ends.
func comparesAll(t *testing.T, p *tab) {
	left := func(final string) eventChange {
		return func(e *hooklog.Event) { e.Decision, e.Final = wire.Replace, json.RawMessage(final) }
	}
	long := strings.Repeat("word ", 1000)
	var events []hooklog.Event
	for _, run := range []string{"a", "b"} {
		events = append(events, event(1, run, "P", left(`{"to":"`+run+`"}`)), event(2, run, "Q", left(`{"to":"both"}`)),
			event(3, run, "R", payload(long+run)))
		for n := range int64(1300) {
			events = append(events, event(4+n, run, "S"))
		}
	}
	p.write(events...)
	p.open()
	p.do(chromedp.Navigate(p.base()+"#run=a&with=b"), chromedp.Reload())
	p.until(`document.querySelectorAll('.pair').length === 600`)
	p.want("main .note", "1 other result, 598 same, 1 other payload", "Compared: the first 600 fires of each run")
	p.click(".pair:nth-child(1) .row")
	p.want(".pair:nth-child(1) .removed", `"to": "a"`)
	p.want(".pair:nth-child(1) .added", `"to": "b"`)
	p.click(".pair:nth-child(2) .row")
	p.want(".pair:nth-child(2) .detail", "The same in both runs.")
	p.click(".pair:nth-child(3) .row")
	p.want(".pair:nth-child(3) .detail", "The same in both runs, as far as it is shown.")
	p.click(".pair:nth-child(3) .after button")
	p.until(`document.querySelector('.pair:nth-child(3) .removed')?.innerText.trimEnd().endsWith('word a"')`)
	p.do(chromedp.Click(`//button[.='Compare more']`))
	p.until(`document.querySelectorAll('.pair').length === 1200`)
	p.do(chromedp.Click(`//button[.='Compare more']`))
	p.until(`document.querySelectorAll('.pair').length === 1303 && !document.querySelector('main .note button')`)
}

func ordersRuns(t *testing.T, p *tab) {
	p.openAgent()
	titles := func(want ...string) {
		t.Helper()
		p.until(`[...document.querySelectorAll('#list .title')].map(e => e.innerText.split(' ')[0]).join(' ') === %q`,
			strings.Join(want, " "))
	}
	titles("Free", "Summarize", "Find", "How")
	for _, c := range []struct {
		id, value string
		want      []string
	}{
		{"order", "cost", []string{"Summarize", "Free", "How", "Find"}},
		{"order", "duration", []string{"Free", "Summarize", "How", "Find"}},
		{"order", "fires", []string{"Free", "Summarize", "How", "Find"}},
		{"outcome", "completed", []string{"Free", "How"}},
		{"tenant", "corp", []string{"Summarize", "Find"}},
		{"cost", "0.02", []string{"Free", "Summarize"}},
		{"duration", "2.5", []string{"Free", "Summarize"}},
		{"text", "HUNTER2", []string{"Free"}},
		{"hook", "shell.Guard", []string{"Free"}},
		{"kind", "slow", []string{"Free"}},
	} {
		p.choose(c.id, c.value)
		titles(c.want...)
		p.choose(c.id, "")
		titles("Free", "Summarize", "Find", "How")
	}
	// The filters that hold are seen while the form is closed.
	p.choose("tenant", "acme")
	p.choose("outcome", "completed")
	p.want("#filters summary", "Filters (2)")
	p.want("#active", "Tenant: acme", "Outcome: completed")
	p.do(chromedp.Click(`//button[contains(., 'Tenant: acme')]`))
	p.until(`!document.getElementById('active').innerText.includes('acme')`)
	p.want("#filters summary", "Filters (1)")
	p.run(`document.querySelector('#text').focus()`)
	p.keys("Escape")
	p.until(`document.getElementById('active').hidden && document.getElementById('list-title').innerText === 'Runs'`)
}

// colorsMeanOutcomes looks at the colors themselves.
func colorsMeanOutcomes(t *testing.T, p *tab) {
	p.openAgent()
	color := func(text string) string {
		return get[string](p, fmt.Sprintf(`getComputedStyle([...document.querySelectorAll('#list .facts span')]
			.find(e => e.innerText === %q)).color`, text))
	}
	good, stopped, bad := color("completed"), color("steps_limit"), color("error")
	plain := get[string](p, `getComputedStyle(document.querySelector('#list .facts')).color`)
	if good == stopped || good == bad || stopped == bad || good == plain || stopped == plain {
		t.Errorf("completed is %s, steps_limit %s, error %s, other facts are %s", good, stopped, bad, plain)
	}
}

func namesRuns(t *testing.T, p *tab) {
	p.write(event(1, "a", "OnOpen"), event(2, "a", "BeforeSend", payload("ignored")), event(3, "b", "OnOpen"),
		event(4, "b", "BeforeSend"), event(5, "b", "BeforeSend", payload("later")))
	p.open()
	p.until(`document.querySelectorAll('#list li').length === 2`)
	p.want("#list", "you", "Run a")
	p.want("main h2", "you")
}
