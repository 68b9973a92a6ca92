// The search and the filters: conditions about runs, and about their fires.

const conditions = ['text', 'outcome', 'tenant', 'cost', 'duration', 'point', 'hook', 'decision', 'kind'];
const valueOf = id => byId(id).matches('select') ? byId(id).value : byId(id).value.trim();
const query = () => Object.fromEntries(conditions.map(id => [id, valueOf(id)]));
const listsFires = () => byId('what').value === 'fires';

// isPlain reports whether the list has all runs, the newest first.
const isPlain = () => !Object.values(query()).some(Boolean) && !listsFires() && !byId('order').value;

// drawFilters shows which conditions hold, each with a button that removes it.
function drawFilters() {
	const active = conditions.filter(id => id !== 'text' && valueOf(id));
	byId('filters').classList.toggle('active', active.length > 0);
	byId('filters').firstChild.textContent = active.length ? `Filters (${active.length})` : 'Filters';
	const chosen = id => plain(byId(id).selectedOptions?.[0].textContent || byId(id).value);
	byId('active').hidden = !active.length;
	byId('active').replaceChildren(...active.map(id => {
		const text = `${byId(id).closest('label').firstChild.textContent.trim()}: ${chosen(id)}`;
		return el('li', {}, el('button', {type: 'button', 'aria-label': 'Remove the filter ' + text, click: () => {
			setConditions({[id]: ''});
			byId('text').focus();
		}}, text, ' ✕'));
	}));
	for (const id of conditions) byId(id).classList.toggle('set', Boolean(valueOf(id)));
}

function setConditions(values) {
	for (const [id, value] of Object.entries(values)) byId(id).value = value;
	return startList();
}

// filterBy lists the runs with one outcome or tenant.
async function filterBy(id, value) {
	await setConditions({...Object.fromEntries(conditions.map(c => [c, ''])), [id]: value, what: 'runs'});
	toList();
}

function fillFilters(names) {
	const all = {
		point: names.points, hook: names.hooks, decision: names.decisions, outcome: names.outcomes, tenant: names.tenants,
	};
	for (const [id, list] of Object.entries(all)) {
		const select = byId(id), chosen = select.value, key = JSON.stringify(list.map(n => n.name));
		if (select.names === key) continue;
		select.names = key;
		select.replaceChildren(el('option', {value: ''}, 'any'));
		for (const n of list) {
			const option = el('option', {value: n.name});
			option.textContent = plain(n.name);
			select.append(option);
		}
		select.value = chosen;
	}
}

let typed = null;
for (const id of ['text', 'cost', 'duration']) {
	byId(id).addEventListener('input', () => {
		clearTimeout(typed);
		typed = setTimeout(startList, 200);
	});
}
for (const id of ['what', 'order', 'outcome', 'tenant', 'point', 'hook', 'decision', 'kind']) {
	byId(id).addEventListener('change', startList);
}
byId('list-more').addEventListener('click', () => {
	if (asking) asking.abort(); // the server stops too
	else continueList(listNext);
});
