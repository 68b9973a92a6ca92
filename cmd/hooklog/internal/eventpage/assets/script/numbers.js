// The numbers of the whole record, as hooklog stats prints them, and those of its runs by outcome and tenant.

async function openNumbers({keepHash} = {}) {
	const mine = ++opening;
	let n;
	try {
		n = await source.numbers();
	} catch (err) {
		if (mine === opening) fail(err, () => openNumbers({keepHash}));
		return;
	}
	if (mine !== opening) return;
	opened = null;
	showPane('Numbers', keepHash ? null : {view: 'numbers'});
	const count = x => el('span', {class: 'number'}, x.toLocaleString('en'));
	const times = x => [x.p50, x.p99, x.max].map(t => el('span', {class: 'number'}, duration(nanos(t))));
	const decisions = x => el('span', {}, ...Object.entries(x.decisions).sort((a, b) => b[1] - a[1])
		.flatMap(([name, n]) => [shown(name), ` ${n.toLocaleString('en')} `]));
	const group = (id, title, list) => list.length ? [el('h3', {}, title), table(
		[title, 'Runs', 'Fires', 'Failures', 'Cost', 'Mean duration'], list.map(g => [
			g.name ? el('button', {type: 'button', class: 'more', click: () => filterBy(id, g.name)}, shown(g.name)) : 'none',
			count(g.runs), count(g.fires), count(g.failures), g.cost ? el('span', {class: 'number'}, amount(g.cost)) : '–',
			el('span', {class: 'number'}, duration(nanos(g.duration) / g.runs)),
		]))] : [];
	main.replaceChildren(
		backToRuns(),
		el('h2', {}, 'Numbers of the record'),
		el('p', {class: 'note'}, `${plural(n.events, 'fire')} in ${plural(n.runs, 'run')}, ${plural(n.subRuns, 'sub-run')} included`),
		...group('outcome', 'Outcome', n.outcomes), ...group('tenant', 'Tenant', n.tenants.filter(t => t.name)),
		el('h3', {}, 'Points'), table(['Point', 'Fires', 'Failed', 'Errors', 'P50', 'P99', 'Longest', 'Decisions'],
			n.points.map(p => [shown(p.point), count(p.fires), count(p.failed), count(p.errors), ...times(p), decisions(p)])),
		...(n.hooks.length ? [el('h3', {}, 'Hooks'), table(['Hook', 'Decided', 'Votes', 'Failed', 'P50', 'P99', 'Longest', 'Decisions'],
			n.hooks.map(h => [el('span', {}, shown(h.name), ' ', el('span', {class: 'site'}, shown(h.site))),
				count(h.decided), count(h.votes), count(h.failures), ...times(h), decisions(h)]))] : []),
		el('p', {class: 'note'}, 'Times are those of all hooks of a fire together; those of a hook are of the fires that it decided.'));
	mark();
	main.focus();
}
