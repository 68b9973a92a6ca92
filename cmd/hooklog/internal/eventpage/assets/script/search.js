// The search and the filters, and the list of the fires that they find.

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
