package pagetest

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hookgen/hookgen/hookkit/hooklog"
)

func searches(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend", payload("a needle <in> a Haystack")), event(2, "b", "BeforeSend",
		payload("first line\nsecond \"line\" \\ "+strings.Repeat("long ", 2000)+"the end")), event(3, "c", "BeforeSend",
		denied, func(e *hooklog.Event) {
			e.Run.Labels = map[string]string{"tenant": "Größe"}
			e.Final = json.RawMessage(`{"To": "nobody", "At": 1.50}`)
		}))
	p.open()
	p.choose("what", "fires")
	for _, c := range []struct{ text, title, found string }{
		{"HAYSTACK", "1 fire found", "run a"},
		{"needle <in>", "1 fire found", "run a"},
		{"to strangers", "1 fire found", "Refuse"},
		{"team.guard", "1 fire found", "run c"},
		{"BeforeSend", "3 fires found", "run b"},
		{"example.com/mail", "3 fires found", "run b"},
		{`first line\nsecond`, "1 fire found", "run b"},
		{`second "line" \ long`, "1 fire found", "run b"},
		{"long the end", "1 fire found", "run b"},
		{`"text":"a`, "1 fire found", "run a"},
		{"GRÖ", "1 fire found", "run c"},
		{"why not", "1 fire found", "run c"},
		{`"to":"nobody","at":1.50`, "1 fire found", "run c"},
		{"run.jsonl", "0 fires found", ""},
		{"change", "0 fires found", ""},
		{"no such text", "0 fires found", ""},
	} {
		p.click("#text")
		p.choose("text", c.text)
		p.until(`document.getElementById('list-title').innerText === %q &&
			document.getElementById('list').innerText.includes(%q)`, c.title, c.found)
	}
	p.run(`document.getElementById('text').value = ''`)
	p.keys("n", "e", "e", "d")
	p.until(`document.getElementById('list-title').innerText === '1 fire found' && document.querySelector('#list button')`)
	p.click("#list button")
	p.until(`document.querySelector('main h2').innerText === 'Run a' && document.querySelector('.detail')`)
	p.want(".detail", "a needle <in> a Haystack")
	p.click("#text")
	p.keys("Escape")
	p.until(`document.getElementById('list-title').innerText === '3 fires found'`)
	p.choose("what", "")
	p.until(`document.getElementById('list-title').innerText === 'Runs'`)
	p.until(`document.querySelectorAll('#list li').length === 3`)
	p.want("#list", "Run a", "Run b", "Run c")
}

// stopsSearches searches a record of which each part takes a while and has nothing.
func stopsSearches(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend"))
	p.open()
	for what, title := range map[string]string{"fires": "Searching (7 fires to go)", "runs": "Searching (7 runs to go)"} {
		p.choose("what", strings.TrimSuffix(what, "runs"))
		p.run(`const slow = next => async (...args) => {
			window.signal = args.at(-1);
			await new Promise(done => setTimeout(done, 20));
			return {fires: [], runs: [], next};
		};
		source.find = slow(7);
		source.runs = slow({key: 0, number: 7});`)
		p.choose("text", "missing")
		p.until(`document.getElementById('list-title').innerText === %q`, title)
		p.click("#list-more")
		p.until(`document.getElementById('list-title').innerText === 'Nothing found yet' &&
			document.getElementById('list-more').innerText === 'Show more' && window.signal.aborted`)
	}
}

func filters(t *testing.T, p *tab) {
	p.write(event(1, "a", "BeforeSend"), event(2, "a", "AfterSend", denied), event(3, "b", "BeforeSend", failed))
	p.open()
	p.click("#filters summary")
	p.choose("what", "fires")
	for _, c := range []struct{ filter, value, title string }{
		{"point", "BeforeSend", "2 fires found"}, {"hook", "team.Guard", "1 fire found"},
		{"decision", "continue", "2 fires found"}, {"kind", "decisions", "2 fires found"},
		{"kind", "failures", "1 fire found"},
	} {
		p.choose(c.filter, c.value)
		p.until(`document.getElementById('list-title').innerText === %q`, c.title)
		p.choose(c.filter, "")
		p.until(`document.getElementById('list-title').innerText === '3 fires found'`)
	}
	p.choose("what", "")
	p.until(`document.querySelectorAll('#list li').length === 2`)
	p.click("#list li:last-child button")
	p.until(`document.querySelectorAll('.fires .row').length === 2`)
	p.click(".tools input")
	p.until(`document.querySelectorAll('.fires .row').length === 1`)
	p.want(".fires", "AfterSend")
}
