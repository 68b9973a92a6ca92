'use strict';

// The page of a record. Every text of the record becomes a text node, in shown; nothing is ever parsed as HTML.

const byId = id => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);

// --- Elements

// el makes an element. Children are nodes, or texts of this script. Texts of the record go through shown.
function el(name, properties, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(properties || {})) {
		if (value === undefined || value === null || value === false) continue;
		if (key === 'click') e.addEventListener('click', value);
		else if (key === 'class') e.className = value;
		else e.setAttribute(key, value === true ? '' : value);
	}
	e.append(...children.filter(c => c !== null && c !== undefined && c !== false));
	return e;
}

// invisible matches characters that are drawn as nothing or as a blank, or change the direction of a text: the same that
// hooklog escapes in a terminal.
const invisible = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]/gu;

// shown returns a text of the record, isolated from the text around it. A right-to-left override could show
// "exe.txt" for "txt.exe", so such characters are replaced by their numbers.
function shown(text, name = 'bdi') {
	const e = document.createElement(name);
	let from = 0;
	for (const found of text.matchAll(invisible)) {
		const c = found[0];
		const emoji = c === '\uFE0F' && /\p{Emoji}$/u.test(text.slice(Math.max(0, found.index - 2), found.index));
		if (c === '\n' || c === '\t' || emoji) continue;
		if (found.index > from) e.append(text.slice(from, found.index));
		const number = 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
		e.append(el('span', {class: 'mark', title: 'an invisible character'}, number));
		from = found.index + c.length;
	}
	if (from < text.length) e.append(text.slice(from));
	return e;
}

// spaced puts a blank between elements, which a screen reader would otherwise join to one word.
const spaced = (...children) => children.filter(Boolean).flatMap(c => [c, ' ']);

const plural = (n, one, many) => `${n.toLocaleString('en')} ${n === 1 ? one : many || one + 's'}`;

function duration(ms) {
	if (ms < 0.001) return ms > 0 ? '<1 µs' : '0 µs';
	if (ms < 1) return `${Math.round(ms * 1000)} µs`;
	if (ms < 10) return `${ms.toFixed(1)} ms`;
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
	const s = Math.round(ms / 1000), pad = n => String(n).padStart(2, '0');
	return s < 3600 ? `${Math.floor(s / 60)}:${pad(s % 60)} min`
		: `${Math.floor(s / 3600)}:${pad(Math.floor(s / 60) % 60)} h`;
}

function size(bytes) {
	for (const [unit, n] of [['MB', 1 << 20], ['KB', 1 << 10]]) {
		if (bytes >= n) return `${(bytes / n).toFixed(1)} ${unit}`;
	}
	return plural(bytes, 'byte');
}

// millis reads a time with its fraction, of which Date.parse reads only milliseconds.
function millis(time) {
	const fraction = /\.\d+/.exec(time);
	return Date.parse(time.replace(/\.\d+/, '')) + (fraction ? 1000 * Number('0' + fraction[0]) : 0);
}

const nanos = n => n / 1e6;

function clock(time) {
	const t = new Date(time), today = new Date();
	const options = {hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false};
	if (t.toDateString() !== today.toDateString()) Object.assign(options, {day: 'numeric', month: 'short'});
	if (t.getFullYear() !== today.getFullYear()) options.year = 'numeric';
	return t.toLocaleString('en-GB', options);
}

// --- Sources: the server, or the data in this file

function serverSource() {
	async function get(path, query) {
		const values = Object.entries(query || {}).filter(([, v]) => v !== undefined && v !== null && v !== '');
		const reply = await fetch('/api/' + path + '?' + new URLSearchParams(values), {cache: 'no-store'});
		if (!reply.ok) throw new Error((await reply.text()).trim());
		return reply.json();
	}
	return {
		status: () => get('status'),
		runs: before => get('runs', {before}),
		run: query => get('run', query),
		items: (run, w) => get('items', {run, ...w}),
		fire: event => get('fire', {event}),
		text: (event, what, from) => get('text', {event, what, from}),
		find: (query, before) => get('find', {...query, before}),
	};
}

function fileSource() {
	const numbers = Object.keys(data.fires).map(Number).sort((a, b) => b - a);
	const decides = f => f.kind !== 'continue' || fails(f) || f.collects;
	const fits = (f, kind) => !kind || (kind === 'failures' ? fails(f) : decides(f));
	const need = value => {
		if (!value) throw new Error('this file does not have it');
		return value;
	};
	const has = (value, text) => {
		if (typeof value === 'string') return value.toLowerCase().includes(text);
		return value !== null && typeof value === 'object' && Object.values(value).some(v => has(v, text));
	};
	const whole = n => ['payload', 'final', 'value', 'collected'].map(what => data.texts[n + '/' + what] || '');
	return {
		status: async () => data.status,
		runs: async () => ({runs: data.runs, more: false}),
		run: async q => need(q.id === undefined ? data.pages[q.number] : Object.values(data.pages).find(r => r.id === q.id)),
		items: async (run, w) => {
			const all = need(data.timelines[run]).items.filter(i => i.run || i.error || fits(i.fire, w.kind));
			const some = w.last || w.before !== undefined
				? all.filter(i => w.last || i.at < w.before) : all.filter(i => i.at >= (w.from || 0));
			const most = 200;
			const items = w.last || w.before !== undefined ? some.slice(-most) : some.slice(0, most);
			return {items, more: some.length > items.length};
		},
		fire: async n => need(data.fires[n]),
		text: async (n, what) => ({text: data.texts[n + '/' + what] || '', next: 0}),
		find: async q => {
			const text = (q.text || '').trim().toLowerCase();
			const found = numbers.map(n => data.fires[n]).filter(f => fits(f, q.kind) && (!q.point || f.point === q.point) &&
				(!q.hook || f.by === q.hook) && (!q.decision || f.decision === q.decision) &&
				(!text || has(f, text) || has(whole(f.event), text)));
			return {fires: found, next: 0};
		},
	};
}

const source = data.live ? serverSource() : fileSource();
const fails = f => Boolean(f.failures || f.error);

// --- Runs

const titleOf = r => r.summary.task || (r.id ? 'Run ' + r.id : 'Fires without a run');

function outcome(r) {
	const s = r.summary;
	if (!s.cause) return s.decision ? el('span', {class: s.kind}, 'last: ', shown(s.decision)) : null;
	return el('span', {class: s.kind}, shown(s.cause));
}

const amount = n => n.toLocaleString('en', {maximumSignificantDigits: 3});

function counts(r) {
	return [
		el('span', {}, plural(r.all.fires, 'fire')),
		r.all.exits ? el('span', {}, plural(r.all.exits, 'exit')) : null,
		r.all.failures ? el('span', {class: 'bad'}, plural(r.all.failures, 'failure')) : null,
	];
}

function facts(r) {
	return el('span', {class: 'facts'}, ...spaced(outcome(r), ...counts(r),
		el('span', {}, duration(millis(r.end) - millis(r.start))),
		r.summary.cost ? el('span', {}, 'cost ' + amount(r.summary.cost)) : null,
		el('span', {}, clock(r.start))));
}

const list = byId('list');
const rows = new Map(); // run number -> li

function runRow(r) {
	let li = rows.get(r.number);
	if (!li) {
		li = el('li', {}, el('button', {type: 'button', 'data-row': true, click: () => openRun({number: r.number}, {focus: true})}));
		li.number = r.number;
		rows.set(r.number, li);
	}
	const button = li.firstChild;
	if (button.version !== r.all.fires) {
		button.version = r.all.fires;
		button.replaceChildren(shown(titleOf(r)), ' ', facts(r));
		button.firstChild.className = 'title';
	}
	return li;
}

let runsLoaded = 0; // the smallest number in the list

async function loadRuns(before) {
	const {runs, more} = await source.runs(before);
	if (searching()) return;
	if (before === undefined) {
		list.replaceChildren();
		rows.clear();
	}
	list.append(...runs.map(runRow));
	runsLoaded = runs.length ? runs[runs.length - 1].number : 0;
	byId('list-more').hidden = !more;
	if (!runs.length && before === undefined) list.append(el('li', {class: 'empty'}, 'The record has no events yet.'));
	mark();
}

// refreshRuns shows new runs above the others, and keeps what the reader sees where it is.
async function refreshRuns() {
	const {runs, more} = await source.runs();
	if (searching()) return 0;
	list.querySelectorAll('.empty').forEach(e => e.remove());
	const pane = list.closest('nav'), before = pane.scrollHeight;
	let known = [...rows.keys()];
	const newest = known.reduce((a, b) => Math.max(a, b), -1);
	if (more && !runs.some(r => r.number <= newest)) { // so many runs are new that some of them are not in runs
		list.replaceChildren();
		rows.clear();
		known = [];
	}
	let place = list.firstChild;
	for (const r of runs) {
		if (r.number < runsLoaded && known.length) break;
		const li = runRow(r);
		if (li === place) {
			place = li.nextSibling;
			continue;
		}
		if (!li.isConnected) list.insertBefore(li, place);
	}
	if (!known.length) {
		mark();
		runsLoaded = runs.length ? runs[runs.length - 1].number : 0;
		byId('list-more').hidden = !more;
	}
	if (pane.scrollTop > 0) pane.scrollTop += pane.scrollHeight - before;
	return runs.filter(r => r.number > newest).length;
}

function mark() {
	for (const b of list.querySelectorAll('[aria-current]')) b.removeAttribute('aria-current');
	for (const li of list.children) {
		const current = searching() ? opened && li.event === opened.event : opened && li.number === opened.top;
		if (current) li.firstChild.setAttribute('aria-current', 'true');
	}
}

// --- Search

const query = () => ({
	text: byId('text').value.trim(), point: byId('point').value, hook: byId('hook').value,
	decision: byId('decision').value, kind: byId('kind').value,
});
const searching = () => Object.values(query()).some(Boolean);

let search = 0; // counts searches, so that a late reply is ignored
let searchNext = 0;

async function startSearch() {
	search++;
	list.replaceChildren();
	rows.clear();
	byId('list-more').hidden = true;
	if (!searching()) {
		byId('list-title').textContent = 'Runs';
		await loadRuns();
		return;
	}
	await continueSearch(undefined);
}

async function continueSearch(before) {
	const mine = search, q = query(), goal = list.children.length + 50;
	do {
		byId('list-title').textContent = 'Searching' + (before ? ` (${plural(before, 'fire')} to go)` : '');
		const {fires, next} = await source.find(q, before);
		if (mine !== search) return;
		list.append(...fires.map(foundRow));
		before = next;
	} while (before && list.children.length < goal);
	searchNext = before;
	const n = list.children.length;
	byId('list-title').textContent = before ? `The newest ${plural(n, 'fire')} found` : `${plural(n, 'fire')} found`;
	byId('list-more').hidden = !before;
	say(byId('list-title').textContent);
	mark();
}

function foundRow(f) {
	const li = el('li', {}, el('button', {
		type: 'button', 'data-row': true, click: () => openRun({number: f.run}, {event: f.event, focus: true}),
	}, el('span', {class: 'title'}, shown(f.point), ' ', chip(f)), ' ',
	el('span', {class: 'facts'}, ...spaced(f.by ? el('span', {}, shown(f.by)) : null,
		f.reason ? el('span', {}, shown(f.reason)) : null, el('span', {}, clock(f.time)),
		el('span', {}, f.runID ? shown('run ' + f.runID) : 'no run')))));
	li.event = f.event;
	return li;
}

function fillFilters(names) {
	for (const [id, list] of [['point', names.points], ['hook', names.hooks], ['decision', names.decisions]]) {
		const select = byId(id), chosen = select.value;
		if (select.options.length === list.length + 1) continue;
		select.replaceChildren(el('option', {value: ''}, 'any'));
		for (const n of list) {
			const option = el('option', {value: n.name});
			option.textContent = shown(n.name).textContent;
			select.append(option);
		}
		select.value = chosen;
	}
}

// --- One run

const main = byId('main');
let opened = null; // {number, top, run, event, timeline, kind}
let opening = 0;

async function openRun(which, {event, focus, keepHash} = {}) {
	const mine = ++opening;
	let run;
	try {
		run = await source.run(which);
	} catch (err) {
		main.replaceChildren(el('p', {class: 'empty'}, shown(err.message)));
		return;
	}
	if (mine !== opening) return;
	const kind = opened && opened.number === run.number && event === undefined ? opened.kind : '';
	opened = {number: run.number, top: run.above.length ? run.above[0].number : run.number, run, event, kind};
	const timeline = new Timeline(run, kind, 0);
	opened.timeline = timeline;
	await timeline.start(event);
	if (mine !== opening) return;
	drawRun();
	document.querySelector('.panes').classList.add('opened');
	main.scrollTop = 0;
	byId('news').hidden = true;
	if (!keepHash) {
		const hash = '#' + new URLSearchParams({run: run.id, ...(event === undefined ? {} : {event})});
		if (hash !== location.hash) history.pushState(null, '', hash); // so that the browser goes back to the run before
	}
	mark();
	if (event !== undefined) await timeline.show(event, focus);
	else if (focus) main.focus();
}

function drawRun() {
	const r = opened.run, s = r.summary;
	const pair = (name, value) => value ? el('div', {}, el('dt', {}, name), el('dd', {}, value)) : null;
	const head = el('div', {},
		el('button', {class: 'back', type: 'button', click: toList}, '← Runs'),
		r.above.length ? el('p', {class: 'above'}, ...r.above.flatMap(a => [
			el('button', {type: 'button', click: () => openRun({number: a.number}, {focus: true})}, shown(titleOf(a))), ' › ',
		])) : null,
		el('h2', {}, shown(titleOf(r))),
		el('dl', {class: 'meta'}, pair('Outcome', outcome(r)), pair('Started', clock(r.start)),
			pair('Took', duration(millis(r.end) - millis(r.start))),
			pair('Fires', el('span', {class: 'facts'}, ...counts(r))),
			pair('Tokens', s.input || s.output ? `${amount(s.input || 0)} in, ${amount(s.output || 0)} out` : null),
			pair('Cost', s.cost ? amount(s.cost) : null), pair('Run', r.id ? shown(r.id) : null),
			pair('Started by', r.parent && !r.above.length ? shown(r.parent) : null),
			...Object.entries(s.labels || {}).map(([name, value]) => pair(shown(name), shown(value))),
			pair('Spec', shown(r.spec))));
	const old = main.firstChild;
	if (opened.drawn && old) {
		const focused = old.contains(document.activeElement);
		if (!focused) old.replaceWith(head);
		return;
	}
	opened.drawn = true;
	const only = el('input', {type: 'checkbox'});
	only.checked = opened.kind === 'decisions';
	only.addEventListener('change', async () => {
		opened.kind = only.checked ? 'decisions' : '';
		opened.timeline.kind = opened.kind;
		await opened.timeline.start();
	});
	main.replaceChildren(head,
		el('div', {class: 'tools'}, el('label', {}, only, 'Decisions only'),
			el('button', {type: 'button', click: () => opened.timeline.latest()}, 'Latest')),
		opened.timeline.box);
	document.title = `${shown(titleOf(r)).textContent} – hooklog`;
}

function toList() {
	document.querySelector('.panes').classList.remove('opened');
	const current = list.querySelector('[aria-current]') || list.querySelector('[data-row]');
	if (current) current.focus();
	else byId('text').focus();
}

// A Timeline is the list of the fires of a run and of the runs that it started.
class Timeline {
	constructor(run, kind, depth) {
		Object.assign(this, {run, kind, depth, first: 0, next: 0, more: false, children: []});
		this.list = el('ol', {class: 'fires', 'aria-label': depth ? 'Fires of the run' : 'Fires'});
		this.earlier = el('button', {class: 'more', type: 'button', hidden: true, click: () => this.loadEarlier()}, 'Show earlier fires');
		this.later = el('button', {class: 'more', type: 'button', hidden: true, click: () => this.load()}, 'Show more fires');
		this.box = el('div', {}, this.earlier, this.list, this.later);
	}

	clear() {
		this.list.replaceChildren();
		this.children = [];
	}

	async start(event) {
		this.clear();
		this.first = this.next = 0;
		this.earlier.hidden = true;
		if (event !== undefined) {
			const fire = await source.fire(event);
			this.first = this.next = Math.max(0, fire.at - 20);
			this.earlier.hidden = this.first === 0;
		}
		await this.load();
	}

	// load adds the next items at the end.
	async load(fresh) {
		const {items, more} = await source.items(this.run.number, {from: this.next, kind: this.kind});
		const added = items.filter(i => i.at >= this.next);
		if (added.length) this.next = added[added.length - 1].at + 1;
		for (const i of added) this.list.append(await this.item(i, fresh));
		this.more = more;
		this.later.hidden = !more;
		return added.length;
	}

	async loadEarlier() {
		const {items, more} = await source.items(this.run.number, {before: this.first, kind: this.kind});
		const pane = main, height = pane.scrollHeight, top = pane.scrollTop;
		const made = [];
		for (const i of items) made.push(await this.item(i));
		this.list.prepend(...made);
		if (items.length) this.first = items[0].at;
		this.earlier.hidden = !more;
		pane.scrollTop = top + pane.scrollHeight - height;
		if (made.length) focusRow(made[made.length - 1].querySelector('[data-row]'));
	}

	async latest() {
		const {items, more} = await source.items(this.run.number, {last: 1, kind: this.kind});
		this.clear();
		for (const i of items) this.list.append(await this.item(i));
		this.first = items.length ? items[0].at : 0;
		this.next = items.length ? items[items.length - 1].at + 1 : 0;
		this.earlier.hidden = !more;
		this.later.hidden = true;
		this.more = false;
		const last = this.list.querySelectorAll(':scope > li > [data-row]');
		if (last.length) focusRow(last[last.length - 1]);
	}

	async item(i, fresh) {
		if (i.run) return this.child(i.run);
		if (i.error) return el('li', {class: 'fails'}, el('p', {class: 'row'}, el('span'), shown(i.error)));
		const f = i.fire;
		const li = el('li', {class: `${f.kind}${fails(f) ? ' fails' : ''}${fresh ? ' fresh' : ''}`});
		const button = el('button', {
			class: 'row', type: 'button', 'data-row': true, 'aria-expanded': 'false', click: () => toggle(li, f.event),
		},
		el('span', {class: 'offset'}, '+' + duration(Math.max(0, millis(f.time) - millis(this.run.start)))),
		' ', el('span', {class: 'point'}, shown(f.point)), ' ',
		el('span', {class: 'said'}, ...spaced(f.kind === 'continue' && !fails(f) ? null : chip(f),
			f.collects ? el('span', {class: 'chip continue'}, 'collects') : null,
			f.by ? el('span', {class: 'by'}, shown(f.by)) : null, f.reason ? shown(f.reason) : null,
			f.excerpt ? el('span', {class: 'excerpt'}, shown(f.excerpt)) : null)),
		' ', el('span', {class: 'elapsed'}, duration(nanos(f.elapsed))));
		li.event = f.event;
		li.append(button);
		return li;
	}

	// child adds a run that this one started. Its fires are loaded when it is opened.
	async child(r) {
		const li = el('li', {class: 'sub'});
		const button = el('button', {class: 'row', type: 'button', 'data-row': true, 'aria-expanded': 'false'});
		const child = {run: r, button, timeline: null};
		this.children.push(child);
		drawChild(child, this.run);
		const open = async () => {
			child.timeline = new Timeline(r, this.kind, this.depth + 1);
			await child.timeline.start();
			li.append(child.timeline.box);
			button.setAttribute('aria-expanded', 'true');
		};
		button.addEventListener('click', async () => {
			if (!child.timeline) return open();
			child.timeline.box.remove();
			child.timeline = null;
			button.setAttribute('aria-expanded', 'false');
		});
		li.append(button);
		if (r.all.fires <= 60 && this.depth < 3) await open();
		return li;
	}

	// show opens a fire that was loaded.
	async show(event, focus) {
		const li = [...main.querySelectorAll('.fires > li')].find(e => e.event === event);
		if (!li) return;
		if (li.firstChild.getAttribute('aria-expanded') !== 'true') await toggle(li, event);
		if (focus) focusRow(li.firstChild, 'start');
		else li.scrollIntoView({block: 'start'});
	}

	// refresh adds fires that were written since, unless the reader has not asked for the ones before them.
	async refresh() {
		let added = 0;
		for (const child of [...this.children]) {
			if (!child.timeline && this.children.indexOf(child) < this.children.length - 3) continue;
			const now = await source.run({number: child.run.number, generation});
			if (!now) return added;
			if (now.all.fires === child.run.all.fires) continue;
			child.run = now;
			drawChild(child, this.run);
			if (child.timeline) added += await child.timeline.refresh();
		}
		if (!this.more) added += await this.load(true);
		return added;
	}
}

function drawChild(child, parent) {
	const r = child.run;
	child.button.replaceChildren(
		el('span', {class: 'offset'}, '+' + duration(Math.max(0, millis(r.start) - millis(parent.start)))),
		' ', el('span', {}, shown(titleOf(r)), ' ', facts(r)));
}

function chip(f) {
	const kind = fails(f) && f.kind === 'continue' ? 'fails' : f.kind;
	return el('span', {class: 'chip ' + kind}, fails(f) && f.kind === 'continue' ? 'failed' : shown(f.decision));
}

// --- One fire

async function toggle(li, event) {
	const button = li.firstChild, old = li.querySelector('.detail');
	if (old) {
		old.remove();
		button.setAttribute('aria-expanded', 'false');
		return;
	}
	button.setAttribute('aria-expanded', 'true');
	let content;
	try {
		content = detail(await source.fire(event));
	} catch (err) {
		content = [el('p', {class: 'bad'}, shown(err.message))];
	}
	if (li.querySelector('.detail')) return;
	li.append(el('div', {class: 'detail'}, ...content));
	if (opened) {
		opened.event = event;
		history.replaceState(null, '', '#' + new URLSearchParams({run: opened.run.id, event}));
	}
}

function detail(d) {
	const pair = (name, value) => value ? [el('dt', {}, name), el('dd', {}, value)] : [];
	const site = d.site ? el('span', {class: 'site'}, shown(d.site)) : null;
	const place = el('span', {class: 'site'}, shown(`${d.file}:${d.line}`));
	const parts = [el('dl', {class: 'pairs'},
		...pair('Decision', chip({...d, failures: 0, error: false})),
		...pair('Decided by', d.by ? el('span', {}, shown(d.by), ' ', site || '') : null),
		...pair('Reason', d.whole ? shown(d.whole) : null),
		...pair('Error', d.errorText ? el('span', {class: 'bad'}, shown(d.errorText)) : null),
		...pair('Time', `${new Date(d.time).toISOString().replace('T', ' ')}, the hooks took ${duration(nanos(d.elapsed))}`),
		...pair('Event', el('span', {}, `number ${d.seq}, `, place)))];
	if (d.failed) {
		parts.push(el('h3', {}, 'Failures'), table(['Hook', 'Cause'], d.failed.map(f => [
			el('span', {}, shown(f.by), ' ', el('span', {class: 'site'}, shown(f.site))), el('span', {class: 'bad'}, shown(f.cause)),
		])));
	}
	if (d.ballots) {
		parts.push(el('h3', {}, 'Votes'), table(['Hook', 'Vote', 'Reason'], d.ballots.map(b => [
			el('span', {}, shown(b.by), ' ', el('span', {class: 'site'}, shown(b.site))), shown(b.decision),
			el('div', {}, b.reason ? shown(b.reason) : null, b.value && b.value.lines.length > 3
				? el('details', {}, el('summary', {}, 'Exit'), lines('Exit', b.value)) : null),
		])));
	}
	if (d.value) parts.push(...textPart('Exit', d.value, d.event, ['value']));
	if (d.collected) parts.push(...textPart('Contributions', d.collected, d.event, ['collected']));
	if (d.change) parts.push(...textPart('Payload, before and after the hooks', d.change, d.event, ['payload', 'final']));
	else if (d.final) {
		parts.push(...textPart('Payload before the hooks', d.payload, d.event, ['payload']),
			...textPart('Payload after the hooks', d.final, d.event, ['final']));
	} else parts.push(...textPart('Payload', d.payload, d.event, ['payload']));
	return parts;
}

function table(names, lines) {
	return el('div', {class: 'scroll'}, el('table', {},
		el('thead', {}, el('tr', {}, ...names.map(n => el('th', {scope: 'col'}, n)))),
		el('tbody', {}, ...lines.map(cells => el('tr', {}, ...cells.map(c => el('td', {}, c)))))));
}

const wholeNames = {payload: 'payload before', final: 'payload after', value: 'exit', collected: 'contributions'};

// textPart shows a text. What is cut or not in a difference can be loaded.
function textPart(title, text, event, whats) {
	const pre = lines(title, text);
	const buttons = el('p', {class: 'after'});
	if (text.cut || whats.length > 1) {
		for (const what of whats) {
			const label = whats.length > 1 ? `Show the whole ${wholeNames[what]}` : `Show all of it (${size(text.size)})`;
			buttons.append(el('button', {type: 'button', 'data-what': what, click: () => loadWhole(pre, buttons, event, what, 0)},
				label));
		}
	}
	return [el('h3', {}, title), pre, buttons];
}

// lines shows the lines of a text.
function lines(title, text) {
	const pre = el('pre', {tabindex: '0', role: 'region', 'aria-label': title});
	for (const l of text.lines) {
		if (l.op === '@') {
			pre.append(el('span', {class: 'l gap'}, '⋯'));
			continue;
		}
		const kind = {'-': ' removed', '+': ' added'}[l.op] || '';
		const line = el('span', {class: 'l' + kind, 'data-op': {'-': '−', '+': '+'}[l.op] || ' '});
		if (l.op) line.append(el('span', {class: 'unseen'}, l.op === '-' ? 'removed: ' : 'added: '));
		for (const p of l.parts || []) {
			if (p.cut) line.append(el('span', {class: 'cut'}, ` … ${size(p.cut)} more … `));
			else line.append(shown(p.text, p.changed ? 'mark' : 'bdi'));
		}
		pre.append(line);
	}
	return pre;
}

// loadWhole shows a piece of the whole text, and a button for the next one.
async function loadWhole(pre, buttons, event, what, from) {
	let piece;
	try {
		piece = await source.text(event, what, from);
	} catch (err) {
		buttons.replaceChildren(el('span', {class: 'bad'}, shown(err.message)));
		return;
	}
	const whole = shown(piece.text, 'span');
	whole.className = 'l';
	if (from) pre.append(whole);
	else pre.replaceChildren(whole);
	const others = [...buttons.querySelectorAll('button')].filter(b => b.dataset.what !== what);
	buttons.replaceChildren(...others);
	if (piece.next) {
		const more = el('button', {type: 'button', 'data-what': what, click: () => loadWhole(pre, buttons, event, what, piece.next)},
			`Show more (${size(piece.size - piece.next)} to go)`);
		buttons.append(more);
	}
	pre.focus();
}

// --- Following

let generation = 0;
let waiting = null, refreshing = false;

function drawStatus(s) {
	const line = byId('status');
	const read = s.size > s.read ? ` · reading, ${Math.floor(100 * s.read / s.size)} %` : '';
	line.textContent = `${plural(s.runs, 'run')}, ${plural(s.events, 'fire')}${read}`;
	line.className = data.live ? 'follows' : '';
	line.title = data.live ? 'The page follows the file' : '';
	const problems = byId('problems'), n = s.problems.length + s.more;
	problems.hidden = n === 0;
	if (n) {
		problems.firstChild.textContent = plural(n, 'remark') + ' about the record';
		problems.querySelector('ul').replaceChildren(...s.problems.map(p =>
			el('li', {}, shown(p.line ? `${p.file}:${p.line}: ${p.text}` : `${p.file}: ${p.text}`))),
		...(s.more ? [el('li', {}, `and ${plural(s.more, 'line')} more`)] : []));
	}
	fillFilters(s.names);
}

// follow shows what a message about a change says. Messages that come meanwhile are joined.
async function follow(status) {
	waiting = status;
	if (refreshing) return;
	refreshing = true;
	try {
		while (waiting) {
			const s = waiting;
			waiting = null;
			drawStatus(s);
			if (s.generation !== generation) {
				generation = s.generation;
				opened = null;
				main.replaceChildren(el('p', {class: 'empty'}, 'The record was read again. Choose a run.'));
				await startSearch();
				continue;
			}
			const runs = searching() ? 0 : await refreshRuns();
			const fires = opened ? await refreshOpened() : 0;
			announce(runs, fires);
		}
	} finally {
		refreshing = false;
	}
}

async function refreshOpened() {
	const mine = opening, open = opened;
	const run = await source.run({number: open.number, generation});
	if (!run) return 0; // the file was read again; the next message says so
	if (mine !== opening || run.all.fires === open.run.all.fires) return 0;
	const added = await open.timeline.refresh();
	if (mine !== opening) return 0;
	open.run = run;
	drawRun();
	mark();
	return added;
}

let newFires = 0, newRuns = 0, toSay = null;

// announce reports new fires: with a button if they are out of sight, and in words, but rarely.
function announce(runs, fires) {
	newRuns += runs;
	newFires += fires;
	const end = main.scrollHeight - main.scrollTop - main.clientHeight;
	if (fires && end > 80) {
		const news = byId('news');
		news.count = (news.hidden ? 0 : news.count) + fires;
		news.textContent = `${plural(news.count, 'new fire')} ↓`;
		news.hidden = false;
	}
	if ((newRuns || newFires) && !toSay) {
		toSay = setTimeout(() => {
			say([newRuns && plural(newRuns, 'new run'), newFires && plural(newFires, 'new fire') + ' in this run']
				.filter(Boolean).join(', '));
			newRuns = newFires = 0;
			toSay = null;
		}, 5000);
	}
}

const say = text => { byId('live').textContent = text; };

byId('news').addEventListener('click', () => {
	byId('news').hidden = true;
	const all = opened ? opened.timeline.list.querySelectorAll('[data-row]') : [];
	if (all.length) focusRow(all[all.length - 1], 'end');
});
main.addEventListener('scroll', () => {
	if (main.scrollHeight - main.scrollTop - main.clientHeight < 40) byId('news').hidden = true;
});

// --- Keys

const calm = matchMedia('(prefers-reduced-motion: reduce)');

function focusRow(row, block = 'nearest') {
	row.focus({preventScroll: true});
	row.scrollIntoView({block, behavior: calm.matches || block !== 'nearest' ? 'instant' : 'auto'});
}

function move(step) {
	const active = document.activeElement;
	let pane = active.closest('nav') ? list : active.closest('main') ? main : null;
	if (!pane) pane = opened && main.querySelector('[data-row]') ? main : list;
	const all = [...pane.querySelectorAll('[data-row]')].filter(r => r.offsetParent);
	if (!all.length) return;
	const row = active.closest('[data-row]') || active.closest('li')?.querySelector('[data-row]');
	const at = all.indexOf(row);
	const to = at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step;
	if (to >= 0 && to < all.length) focusRow(all[to]);
}

function escape() {
	const active = document.activeElement;
	if (active === byId('text') || active.closest('.search')) {
		byId('text').value = '';
		for (const id of ['point', 'hook', 'decision', 'kind']) byId(id).value = '';
		startSearch();
		return;
	}
	const li = active.closest('.fires > li');
	const closes = li && li.firstChild.getAttribute('aria-expanded') === 'true' && !li.classList.contains('sub');
	if (closes) {
		li.querySelector('.detail')?.remove();
		li.firstChild.setAttribute('aria-expanded', 'false');
		focusRow(li.firstChild);
		return;
	}
	if (active.closest('main')) toList();
}

document.addEventListener('keydown', e => {
	if (e.ctrlKey || e.metaKey || e.altKey || byId('keys').open) return;
	const typing = e.target.matches('input:not([type=checkbox]), select, textarea');
	if (e.key === 'Escape') {
		escape();
		e.preventDefault();
		return;
	}
	if (typing) {
		if (e.target === byId('text') && (e.key === 'ArrowDown' || e.key === 'Enter')) {
			list.querySelector('[data-row]')?.focus();
			e.preventDefault();
		}
		return;
	}
	const onRow = document.activeElement.matches('[data-row]') || document.activeElement === document.body ||
		document.activeElement === main;
	const step = e.key === 'j' || e.key === 'ArrowDown' && onRow ? 1 : e.key === 'k' || e.key === 'ArrowUp' && onRow ? -1 : 0;
	if (step) {
		move(step);
		e.preventDefault();
	} else if (e.key === '/') {
		document.querySelector('.panes').classList.remove('opened');
		byId('text').focus();
		byId('text').select();
		e.preventDefault();
	} else if (e.key === '?') {
		byId('keys').showModal();
		e.preventDefault();
	}
});
byId('help').addEventListener('click', () => byId('keys').showModal());
byId('keys-close').addEventListener('click', () => byId('keys').close());

let typed = null;
byId('text').addEventListener('input', () => {
	clearTimeout(typed);
	typed = setTimeout(startSearch, 200);
});
for (const id of ['point', 'hook', 'decision', 'kind']) byId(id).addEventListener('change', startSearch);
byId('list-more').addEventListener('click', () => searching() ? continueSearch(searchNext) : loadRuns(runsLoaded));

// --- Start

async function openHash() {
	const hash = new URLSearchParams(location.hash.slice(1));
	const event = hash.has('event') ? Number(hash.get('event')) : undefined;
	if (hash.has('run')) await openRun({id: hash.get('run')}, {event, keepHash: true});
	else if (event !== undefined) await openRun({number: (await source.fire(event)).run}, {event, keepHash: true});
	else await openFirst();
}

// openFirst opens the newest run, or shows the list if there is no room for both.
async function openFirst() {
	document.querySelector('.panes').classList.remove('opened');
	const first = searching() ? null : list.querySelector('[data-row]');
	if (first && matchMedia('(min-width: 56.01rem)').matches) {
		await openRun({number: first.parentElement.number}, {keepHash: true});
	}
}

async function start() {
	byId('name').textContent = shown(data.name).textContent;
	const status = await source.status();
	generation = status.generation;
	drawStatus(status);
	await loadRuns();
	await openHash();
	if (!opened) await openFirst();
	if (!opened) main.replaceChildren(el('p', {class: 'empty'}, 'Choose a run.'));
	window.addEventListener('hashchange', openHash);
	if (!data.live) return;
	const changes = new EventSource('/api/changes');
	changes.addEventListener('message', e => follow(JSON.parse(e.data)));
	changes.addEventListener('error', () => {
		byId('status').className = 'follows lost';
		byId('status').title = 'hooklog does not answer; it may have ended';
	});
}

start().catch(err => {
	main.replaceChildren(el('p', {class: 'bad'}, shown(err.message)));
});
