// The list of runs, or of the fires that a search finds.

const titleOf = r => r.summary.name || (r.id ? 'Run ' + r.id : 'Fires without a run');

function outcome(r) {
	if (!r.outcome) return null;
	return el('span', {class: r.summary.kind}, r.summary.cause ? '' : 'last: ', shown(r.outcome));
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
		r.tenant ? shown(r.tenant, 'span') : null, el('span', {}, clock(r.start))));
}

const list = byId('list');
const rows = new Map(); // run number -> li

function runRow(r) {
	let li = rows.get(r.number);
	if (!li) {
		li = el('li', {}, el('button', {type: 'button', 'data-row': true, click: () => comparing
			? openComparison({number: comparing.number}, {number: r.number}) : openRun({number: r.number}, {focus: true})}));
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

let search = 0; // counts lists, so that a late reply is ignored
let listNext = null; // where the list continues: a number of fires, or a mark of runs
let oldest = 0; // the smallest number in a list of the newest runs
let asking = null; // ends the request of the list; a search takes seconds in a record of millions of fires

// startList makes the list anew.
async function startList() {
	search++;
	asking?.abort();
	list.replaceChildren();
	rows.clear();
	byId('list-more').hidden = true;
	drawFilters();
	await continueList(null);
}

async function continueList(after) {
	const mine = search, q = query(), goal = list.children.length + 50, fires = listsFires(), plain = isPlain();
	const what = n => plural(n, fires ? 'fire' : 'run'), title = byId('list-title'), more = byId('list-more');
	const {signal} = asking = new AbortController();
	let next = after, ended = false;
	more.hidden = plain;
	more.textContent = 'Stop';
	do {
		const left = fires ? next : !byId('order').value && next?.number;
		if (!plain) title.textContent = 'Searching' + (left ? ` (${what(left)} to go)` : '');
		let found;
		try {
			found = fires ? await source.find(q, next, signal) : await source.runs(q, byId('order').value, next, signal);
		} catch (err) {
			if (mine !== search) return;
			if (signal.aborted) break;
			asking = null;
			more.hidden = true;
			const li = el('li', {class: 'empty'}, failure(err, () => { li.remove(); continueList(next); }));
			list.append(li);
			return;
		}
		if (mine !== search) return;
		list.append(...(fires ? found.fires.map(foundRow) : found.runs.map(runRow)));
		next = found.next;
		ended = !next;
	} while (!ended && list.children.length < goal && !signal.aborted);
	asking = null;
	listNext = next;
	more.hidden = ended;
	more.textContent = 'Show more';
	const n = list.children.length;
	oldest = plain && n ? list.lastChild.number : 0;
	if (plain) {
		title.textContent = 'Runs';
		if (!n) list.append(el('li', {class: 'empty'}, 'The record has no events yet.'));
	} else {
		title.textContent = !ended && !n ? 'Nothing found yet' : `${ended ? '' : 'The first '}${what(n)} found`;
		say(title.textContent);
	}
	mark();
}

// refreshRuns shows new runs above the others, and keeps what the reader sees where it is. Only the list of the newest
// runs changes by itself.
async function refreshRuns() {
	if (!isPlain()) return 0;
	const mine = search, {runs, next} = await source.runs({}, '', null);
	if (mine !== search) return 0;
	list.querySelectorAll('.empty').forEach(e => e.remove());
	let known = [...rows.keys()];
	const newest = known.reduce((a, b) => Math.max(a, b), -1);
	if (next && !runs.some(r => r.number <= newest)) { // so many runs are new that some of them are not in runs
		list.replaceChildren();
		rows.clear();
		known = [];
	}
	keepPlace(list.closest('nav'), () => {
		let place = list.firstChild;
		for (const r of runs) {
			if (r.number < oldest && known.length) break;
			const li = runRow(r);
			if (li === place) place = li.nextSibling;
			else if (!li.isConnected) list.insertBefore(li, place);
		}
	});
	if (!known.length) {
		mark();
		oldest = runs.length ? runs[runs.length - 1].number : 0;
		listNext = next;
		byId('list-more').hidden = !next;
	}
	return runs.filter(r => r.number > newest).length;
}

function mark() {
	for (const b of list.querySelectorAll('[aria-current]')) b.removeAttribute('aria-current');
	for (const li of list.children) {
		const current = opened && (li.event === undefined ? li.number === opened.top : li.event === opened.event);
		if (current) li.firstChild.setAttribute('aria-current', 'true');
	}
}
