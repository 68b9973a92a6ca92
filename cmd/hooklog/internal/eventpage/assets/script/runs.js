// The list of runs.

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
