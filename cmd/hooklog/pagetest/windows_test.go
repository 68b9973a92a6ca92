package pagetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
)

// A view is one of the views of the page, with its address, and a condition that holds when it is drawn.
type view struct{ name, hash, until string }

// The views of the page of agentStory.
var views = []view{
	{"a run", "#run=e07a9d35&fire=35", `document.querySelector('.bar-of.person') && document.querySelector('.detail')`},
	{"a conversation", "#run=e07a9d35&view=talk", `document.querySelector('.bar-of.person') &&
		document.querySelector('.talk .added')`},
	{"numbers", "#view=numbers", `document.querySelectorAll('main table').length === 4`},
	{"two runs", "#run=5c1e&with=77ab", `document.querySelector('.pair')`},
}

// show shows a view.
func (p *tab) show(hash, until string) {
	p.t.Helper()
	p.do(chromedp.Navigate(p.base()+hash), chromedp.Reload())
	p.until("%s", until)
}

// fitsEveryWindow looks for texts that need a wider window, and for texts that are hard to read, in each view.
func fitsEveryWindow(t *testing.T, p *tab) {
	p.openAgent()
	for _, width := range []int64{390, 1600} {
		for _, dark := range []bool{false, true} {
			p.scheme(dark)
			p.do(chromedp.EmulateViewport(width, 800))
			for _, v := range append(views, view{"the list", "", `document.querySelector('#list .title')`}) {
				t.Run(fmt.Sprintf("%s, %d pixels, dark %v", v.name, width, dark), func(t *testing.T) {
					p.show(v.hash, v.until)
					if v.name == "the list" {
						p.run(`document.getElementById('filters').open = true`)
						p.choose("outcome", "completed")
						p.until(`!document.getElementById('active').hidden`)
					}
					wide := get[string](p, `['html', 'main', 'nav', '.bar'].map(s => document.querySelector(s))
						.filter(e => e.scrollWidth > e.clientWidth).map(e => e.tagName + ' ' + (e.scrollWidth - e.clientWidth)).join()`)
					if wide != "" {
						t.Errorf("these are so many pixels too wide: %s", wide)
					}
					if faint := get[string](p, faintTexts); faint != "" {
						t.Errorf("these texts have little contrast: %s", faint)
					}
				})
			}
		}
	}
}

// faintTexts is an expression for the texts whose contrast with their background is less than the 4.5 of WCAG 2.2.
const faintTexts = `(() => {
	const canvas = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
	const rgb = color => {
		canvas.clearRect(0, 0, 1, 1);
		canvas.fillStyle = color;
		canvas.fillRect(0, 0, 1, 1);
		return [...canvas.getImageData(0, 0, 1, 1).data];
	};
	const light = color => {
		const [r, g, b] = rgb(color).map(v => v / 255).map(v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
		return .2126 * r + .7152 * g + .0722 * b;
	};
	const behind = e => {
		for (; e; e = e.parentElement) {
			const color = getComputedStyle(e).backgroundColor;
			if (rgb(color)[3] > 0) return color;
		}
		return 'white';
	};
	const faint = new Set();
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) {
		const e = texts.currentNode.parentElement;
		if (!texts.currentNode.data.trim() || !e.checkVisibility()) continue;
		if (e.closest('script, style, option, .unseen, .skip')) continue;
		const [a, b] = [light(getComputedStyle(e).color), light(behind(e))];
		const contrast = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
		const text = texts.currentNode.data.trim().slice(0, 20);
		if (contrast < 4.5) faint.add(e.className + ' ' + text + ' ' + contrast.toFixed(1));
	}
	return [...faint].join('; ');
})()`

// An axNode is a node of the tree that a screen reader gets.
type axNode struct{ role, name string }

// tree returns the nodes that a screen reader gets.
func (p *tab) tree() (nodes []axNode) {
	p.t.Helper()
	read := func(v *accessibility.Value) (text string) {
		if v != nil {
			_ = json.Unmarshal([]byte(v.Value), &text) // other values are not texts
		}
		return text
	}
	type result = accessibility.GetFullAXTreeResult
	all, err := chromedp.Run(p.ctx, func(ctx context.Context, t *chromedp.Target) (result, error) {
		return cdp.Call(ctx, t, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	})
	if err != nil {
		p.t.Fatal(err)
	}
	for _, n := range all.Nodes {
		if !n.Ignored {
			nodes = append(nodes, axNode{read(n.Role), strings.TrimSpace(read(n.Name))})
		}
	}
	return nodes
}

// controls are the roles of the elements that a reader can use, or go to.
var controls = []string{
	"button", "searchbox", "combobox", "spinbutton", "checkbox", "link", "textbox", "option", "dialog", "navigation",
	"main", "region", "DisclosureTriangle",
}

// hasAccessibleTree checks the names of all controls in each view, and that the ones that matter are there.
func hasAccessibleTree(t *testing.T, p *tab) {
	p.openAgent()
	p.run(`document.getElementById('filters').open = true`)
	everywhere := []axNode{
		{"main", "Run"}, {"navigation", "Runs"}, {"searchbox", "Search"}, {"combobox", "List"}, {"combobox", "Order of runs"},
		{"combobox", "Outcome"}, {"combobox", "Tenant"}, {"spinbutton", "Cost from"}, {"spinbutton", "Seconds from"},
		{"combobox", "Point"}, {"combobox", "Hook"}, {"combobox", "Decision"}, {"combobox", "Fires"}, {"list", "Runs"},
		{"button", "Numbers"}, {"button", "Help: keys"}, {"link", "Skip to the run"},
	}
	special := map[string][]axNode{
		"a run": {
			{"region", "Time"}, {"group", "People, 1 bar, 6.0 s"}, {"button", "People: shell, 6.0 s, at +6.4 s"},
			{"group", "View"},
			{"button", "Conversation"}, {"checkbox", "Decisions only"}, {"button", "Compare"}, {"list", "Fires"},
			{"heading", "Free space on the build server, at least 20 GB"},
		},
		"a conversation": {{"list", "Conversation"}, {"button", "Fires"}, {"region", "Changed by hooks"}},
		"numbers":        {{"heading", "Numbers of the record"}, {"columnheader", "Mean duration"}, {"button", "completed"}},
		"two runs": {
			{"heading", "Two runs"}, {"list", "Fires of both runs"}, {"columnheader", "How many packages were built?"},
		},
	}
	for _, v := range views {
		t.Run(v.name, func(t *testing.T) {
			p.show(v.hash, v.until)
			p.run(`document.getElementById('filters').open = true`)
			nodes := p.tree()
			for i, n := range nodes {
				if slices.Contains(controls, n.role) && n.name == "" {
					t.Errorf("a %s has no name, after %q", n.role, nodes[max(0, i-3):i])
				}
			}
			for _, want := range append(special[v.name], everywhere...) {
				if !slices.Contains(nodes, want) {
					t.Errorf("the tree has no %s %q", want.role, want.name)
				}
			}
			if t.Failed() {
				t.Logf("%q", nodes)
			}
		})
	}
}

// tabTo presses the Tab key until an expression about the focused element e holds.
func (p *tab) tabTo(expression string) {
	p.t.Helper()
	for range 120 {
		if get[bool](p, `(e => Boolean(`+expression+`))(document.activeElement)`) {
			return
		}
		p.keys("Tab")
	}
	p.t.Fatalf("the Tab key does not reach %s; the focus is on %s", expression,
		get[string](p, `document.activeElement.outerHTML.slice(0, 300)`))
}

// showsViewsByKeys uses all views without a mouse.
func showsViewsByKeys(t *testing.T, p *tab) {
	p.openAgent()
	p.tabTo(`e.id === 'order'`)
	p.keys("m") // most expensive
	p.until(`document.querySelector('#list .title')?.innerText.startsWith('Summarize')`)
	p.tabTo(`e.closest('#list')`)
	p.keys("j", "Enter")
	p.until(`document.querySelector('main h2').innerText.startsWith('Free') &&
		document.activeElement === document.querySelector('main') && document.querySelectorAll('.bar-of').length > 20`)
	p.tabTo(`e.matches('.bar-of')`)
	p.keys("ArrowRight", "ArrowRight", "ArrowLeft")
	p.until(`document.activeElement.ariaLabel.startsWith('Model: large-3, 1.3 s')`)
	p.keys("Enter")
	p.until(`document.querySelector('.detail') && document.activeElement.innerText.includes('AfterLLM')`)
	p.keys("Escape", "Escape") // closes the fire, then goes to the list
	p.until(`document.activeElement.closest('#list')`)
	p.tabTo(`e.dataset.view === 'talk'`)
	p.keys("Enter")
	p.until(`document.querySelector('.talk .turn')`)
	p.tabTo(`e.innerText === 'Compare'`)
	p.keys("Enter")
	p.until(`!document.getElementById('comparing').hidden && document.activeElement.closest('#list')`)
	p.keys("Escape")
	p.until(`document.getElementById('comparing').hidden`)
	p.tabTo(`e.innerText === 'Compare'`)
	p.keys("Enter", "j", "Enter")
	p.until(`document.querySelector('.pair')`)
	p.tabTo(`e.closest('.pair')`)
	p.keys("Enter")
	p.until(`document.querySelector('.pair .detail')`)
	p.keys("Escape")
	p.until(`!document.querySelector('.pair .detail')`)
	p.do(chromedp.Reload())
	p.until(`document.querySelector('.pair')`)
	p.tabTo(`e.id === 'numbers'`)
	p.keys("Enter")
	p.until(`document.querySelectorAll('main table').length === 4`)
	p.tabTo(`e.innerText === 'steps_limit'`)
	p.keys("Enter")
	p.until(`document.getElementById('list-title').innerText === '1 run found' && document.activeElement.closest('#list')`)
}
