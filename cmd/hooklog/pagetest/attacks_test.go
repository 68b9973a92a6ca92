package pagetest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/hookgen/hookgen/hookkit/hooklog"
	"github.com/hookgen/hookgen/spec/agentspec"
)

// attacks are texts that become a part of a page which is not careful.
var attacks = []string{
	`<script>window.hacked = 1</script>`,
	`</script><script>window.hacked = 2</script>`,
	`<img src=x onerror="window.hacked = 3">`,
	`<svg onload="window.hacked = 4">`,
	`"><iframe srcdoc="<script>parent.hacked = 5</script>"></iframe>`,
	`' onfocus='window.hacked = 6' autofocus='`,
	`" onmouseover="window.hacked = 7" style="position:fixed;inset:0`,
	`javascript:window.hacked=8`,
	`<a href="javascript:window.hacked=9">here</a>`,
	`<base href="https://evil.example/"><link rel=stylesheet href=x>`,
	`<style>*{display:none}</style><meta http-equiv=refresh content="0;url=https://evil.example">`,
	`<!-- --><template><b>bold</b></template><!--`,
	"${window.hacked = 12} {{constructor.constructor('window.hacked=12')()}}",
	"user\u202Eexe.txt\u2066\u200B\u0000\u0007 end",
	"\u2028window.hacked = 14\u2029]]>\\u003cscript\\u003e",
	`__proto__`,
	`&lt;img src=x onerror=window.hacked=16&gt;&#60;script&#62;`,
	`<details open ontoggle="window.hacked = 17"><form action=//evil.example><button autofocus>x`,
}

// attackedRuns returns a run for each attack, whose text is in every field of its events.
func attackedRuns() []hooklog.Event {
	s := &story{}
	for i, text := range attacks {
		everywhere := func(e *hooklog.Event) {
			e.By, e.Site, e.Reason, e.Error, e.Spec = text, text, text, text, text
			e.Run.Labels = map[string]string{"tenant": text, text: text}
			e.Run.Parent, e.Key = text, encode(text)
			e.Omitted = []hooklog.Omitted{{In: text, List: text, Count: 1, Digest: text}}
			value := encode([]string{text, text, text, text})
			e.Ballots = []hooklog.Ballot{{By: text, Site: text, Decision: text, Reason: text, Value: value}}
			e.Failures = []hooklog.Failure{{By: text, Site: text, Cause: text}}
			e.Slow = []hooklog.SlowHook{{By: text, Site: text}}
			e.Value, e.Collected = encode(map[string]string{text: text}), encode([]string{text})
		}
		changed := func(e *hooklog.Event) {
			everywhere(e)
			e.Decision = "replace"
			e.Final = json.RawMessage(strings.Replace(string(e.Payload), `:"`, `:"changed `, 1))
		}
		s.begin(fmt.Sprintf("%d %s", i, text), "", text, text)
		c := agentspec.ToolCallRequest{ID: text, Name: text, Args: encode(map[string]string{text: text})}
		messages := []agentspec.Message{{Role: agentspec.RoleSystem, Content: text, Name: text}}
		s.fire("BeforeLLM", agentspec.LLMRequest{Messages: messages, Model: text}, 1e6, changed)
		s.fire("AfterLLM", agentspec.LLMResponse{
			Content: text, Reasoning: text, Model: text, FinishReason: text, ToolCalls: []agentspec.ToolCallRequest{c},
			Elapsed: 1e6,
		}, 1e6, changed)
		s.fire("BeforeTool", c, 1e6, changed)
		s.fire("BeforeAsk", agentspec.Question{Call: c, Prompt: text, Reason: text}, 1e9, everywhere)
		s.fire("OnPermissionDenied", agentspec.Denial{Call: c, Reason: text, By: text, AnsweredBy: text}, 1e6, everywhere)
		s.fire("AfterTool", agentspec.ToolCallResult{Call: c, Output: text, Err: text, Elapsed: 1e6}, 1e6, changed)
		s.fire("CheckDone", agentspec.DoneRequest{Answer: text}, 1e6, changed)
		s.fire(text, text, 1e6, everywhere, func(e *hooklog.Event) { e.Decision = text })
		s.fire("OnRunError", agentspec.RunError{Err: text}, 1e6, everywhere)
		s.fire("OnRunEnd", agentspec.AgentResult{
			Reply: text, Stop: agentspec.EndRun{Cause: agentspec.Cause(text), Message: text}, Usage: agentspec.Usage{Cost: 1},
		}, 1e6, everywhere)
	}
	return s.events
}

// resistsAttacks shows each attack in every field of every view.
func resistsAttacks(t *testing.T, p *tab) {
	p.write(attackedRuns()...)
	p.open()
	p.run(`window.foreign = () => [
		...[...document.body.querySelectorAll('*')].filter(e => !e.matches('a.skip, b, bdi, button, dd, details, dialog, ' +
			'div, dl, dt, h1, h2, h3, header, input, kbd, label, li, main, mark, nav, noscript, ol, option, p, pre, select, ' +
			'section, span, summary, table, tbody, td, th, thead, tr, ul, body > script:nth-last-of-type(-n + 2)')),
		...[...document.body.querySelectorAll(':not(a.skip)')].filter(e =>
			[...e.attributes].some(a => /^(on|src|href|action)/.test(a.name))),
	].map(e => e.outerHTML.slice(0, 200)).join()`)
	harmless := func(where string) {
		t.Helper()
		made := get[string](p, `(window.hacked || '') + window.foreign()`)
		if made != "" || get[bool](p, `/[\u202E\u2066\u200B\u0000\u0007]/.test(document.documentElement.innerText +
				document.title + [...document.querySelectorAll('[aria-label], [title]')].map(e => e.ariaLabel + e.title).join())`) {
			t.Fatalf("%s: a text became a part of the page, or is invisible: %s", where, made)
		}
	}
	for i, text := range attacks {
		number := len(attacks) - i // the newest run is the first one
		visible := strings.Fields(strings.Split(text, "\u202E")[0])[0]
		visible = strings.TrimLeft(visible, "\u2028")
		p.run(`document.querySelector("#list > li:nth-child(%d) > button").click()`, number)
		p.until(`document.querySelectorAll('.fires .row').length === 11 && document.querySelector('.bar-of.person') &&
			document.querySelector('main h2').innerText.includes(%q)`, visible)
		p.run(`document.querySelectorAll('.fires .row').forEach(e => e.click())`)
		p.until(`document.querySelectorAll('.detail').length === 11`)
		p.want(".detail", visible)
		harmless("a run with " + text)
		p.run(`document.querySelector('[data-view=talk]').click()`)
		p.until(`document.querySelectorAll('.turn').length >= 10`)
		p.run(`document.querySelectorAll('main details').forEach(e => e.open = true)`)
		p.want(".turn", visible)
		harmless("a conversation with " + text)
		p.run(`document.querySelector('[data-view=fires]').click()`)
	}
	p.do(chromedp.Click(`//button[.='Compare']`))
	p.run(`document.querySelector("#list > li:nth-child(3) > button").click()`)
	p.until(`document.querySelectorAll('.pair').length >= 11`)
	p.run(`document.querySelectorAll('.pair .row').forEach(e => e.click())`)
	p.until(`document.querySelectorAll('.pair .detail').length >= 11`)
	harmless("two runs")
	p.click("#numbers")
	p.until(`document.querySelectorAll('main table').length === 4`)
	harmless("numbers")
	for _, text := range attacks {
		p.choose("outcome", text)
		p.choose("hook", text)
		p.until(`document.querySelectorAll('#active li').length === 2 &&
			document.getElementById('list-title').innerText === '1 run found'`)
		harmless("filters with " + text)
	}
}
