// The run that is open.

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
