// The run that is open.

const main = byId('main');
let opened = null; // what loadRun returns, and the conversation
let opening = 0;

// openRun opens a run, at the fire with the number event or at the one that an address names.
async function openRun(which, options = {}) {
	const mine = ++opening, {focus, keepHash} = options;
	let next;
	try {
		next = await loadRun(which, options);
	} catch (err) {
		if (mine === opening) fail(err, () => openRun(which, options));
		return;
	}
	if (mine !== opening) return;
	opened = next;
	const {run, fire, view, timeline} = next;
	drawRun();
	showPane(plain(titleOf(run)), keepHash ? null : fire ? addressOf(fire)
		: {run: run.id, ...(view === 'talk' ? {view} : {})});
	mark();
	if (view === 'talk') await showView('talk');
	if (options.sought && !fire) {
		timeline.trouble.replaceChildren(el('p', {class: 'bad'}, 'The record does not have the fire of this address.'));
	}
	if (fire) await timeline.show(fire.event, focus);
	else if (focus) main.focus();
}

// loadRun loads what the page shows of a run at first.
async function loadRun(which, {event, sought, view}) {
	const before = opened, run = await source.run(which);
	if (sought) event = await source.event(run.id, sought);
	const fire = event >= 0 ? await source.fire(event) : null;
	const again = before && before.number === run.number, kind = again && !fire ? before.kind : '';
	const chart = again ? before.chart : new Chart(run), timeline = new Timeline(run, kind, 0);
	await timeline.start(fire?.at);
	// The chart of a short run is drawn with the rest, so that nothing moves while somebody clicks.
	const charted = again ? null : chart.read().catch(() => {}); // the timeline reports the error
	if (run.all.fires <= 200) await charted;
	return {
		number: run.number, top: run.above.length ? run.above[0].number : run.number, run, fire, event: fire?.event, kind, chart,
		timeline, view: !run.talks || fire ? 'fires' : view || (again ? before.view : 'fires'),
	};
}

const addressOf = fire => ({run: fire.runID, fire: fire.seq, time: fire.time});

// fail shows in the main pane why something cannot be shown.
function fail(err, again) {
	opened = null;
	document.querySelector('.panes').classList.add('opened');
	main.replaceChildren(backToRuns(), failure(err, again));
	mark();
}

const backToRuns = () => el('button', {class: 'back', type: 'button', click: toList}, '← Runs');

// showPane shows the main pane, and names what it shows in the title and the address.
function showPane(title, hash) {
	document.querySelector('.panes').classList.add('opened');
	main.scrollTop = 0;
	byId('news').hidden = true;
	document.title = title + ' – hooklog';
	const address = hash && '#' + new URLSearchParams(hash);
	if (hash && address !== location.hash) history.pushState(null, '', address); // so that the browser goes back
}

// showView shows the run as its fires, or as a conversation.
async function showView(view) {
	opened.view = view;
	for (const b of main.querySelectorAll('.views button')) b.setAttribute('aria-pressed', String(b.dataset.view === view));
	main.querySelector('.fires-only').hidden = view === 'talk';
	if (view === 'talk' && !opened.talk) {
		opened.talk = new Talk(opened.run);
		await opened.talk.start();
	}
	main.lastChild.replaceWith(view === 'talk' ? opened.talk.box : opened.timeline.box);
}

function drawRun() {
	const r = opened.run, s = r.summary;
	const pair = (name, value) => value ? el('div', {}, el('dt', {}, name), el('dd', {}, value)) : null;
	const head = el('div', {},
		backToRuns(),
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
		await opened.timeline.tried(t => t.start());
	});
	const view = (name, title) => el('button', {
		type: 'button', 'data-view': name, 'aria-pressed': String(opened.view === name), click: () => showView(name),
	}, title);
	main.replaceChildren(head, opened.chart.box,
		el('div', {class: 'tools'},
			r.talks ? el('span', {class: 'views', role: 'group', 'aria-label': 'View'}, view('fires', 'Fires'),
				view('talk', 'Conversation')) : null,
			el('span', {class: 'fires-only'}, el('label', {}, only, 'Decisions only'),
				el('button', {type: 'button', click: () => opened.timeline.tried(t => t.latest())}, 'Latest')),
			el('button', {type: 'button', click: () => chooseOther(opened.run)}, 'Compare')),
		opened.timeline.box);
}

function toList() {
	document.querySelector('.panes').classList.remove('opened');
	const current = list.querySelector('[aria-current]') || list.querySelector('[data-row]');
	if (current) current.focus();
	else byId('text').focus();
}
