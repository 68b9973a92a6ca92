// Two runs beside each other.

let comparing = null; // the run for which the reader chooses another one

function chooseOther(run) {
	comparing = run;
	const bar = byId('comparing');
	bar.hidden = !run;
	if (run) {
		bar.replaceChildren('Choose the run to compare with ', el('b', {}, shown(titleOf(run))), ' ',
			el('button', {type: 'button', click: () => chooseOther(null)}, 'Cancel'));
		toList();
		say(bar.textContent);
	}
}

// aligned pairs the elements of two lists that are the same, in order: the longest common subsequence. Elements without
// a partner come with null.
function aligned(a, b, same) {
	const width = b.length + 1, best = new Uint16Array((a.length + 1) * width);
	for (let i = a.length - 1; i >= 0; i--) {
		for (let j = b.length - 1; j >= 0; j--) {
			best[i * width + j] = same(a[i], b[j]) ? best[(i + 1) * width + j + 1] + 1
				: Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
		}
	}
	const pairs = [];
	let i = 0, j = 0;
	while (i < a.length || j < b.length) {
		if (i < a.length && j < b.length && same(a[i], b[j])) pairs.push([a[i++], b[j++]]);
		else if (j >= b.length || i < a.length && best[(i + 1) * width + j] >= best[i * width + j + 1]) pairs.push([a[i++], null]);
		else pairs.push([null, b[j++]]);
	}
	return pairs;
}

// firesOf returns the first fires of a run, without those of the runs that it started.
async function firesOf(run, most) {
	let fires = [], next = 0, more = true;
	while (more && fires.length < most) {
		const part = await source.items(run.number, {from: next});
		for (const i of part.items) next = i.at + 1;
		fires.push(...part.items.filter(i => i.fire).map(i => i.fire));
		more = part.more && part.items.length > 0;
	}
	return {fires: fires.slice(0, most), more: more || fires.length > most};
}

const firstPairs = 600, mostPairs = 4800; // fires of a run that are compared: at first, and when a reader asks for more

async function openComparison(which, other, {keepHash, most = firstPairs} = {}) {
	chooseOther(null);
	const mine = ++opening;
	let runs, all;
	try {
		runs = [await source.run(which), await source.run(other)];
		all = [await firesOf(runs[0], most), await firesOf(runs[1], most)];
	} catch (err) {
		if (mine === opening) fail(err, () => openComparison(which, other, {keepHash, most}));
		return;
	}
	if (mine !== opening) return;
	opened = null;
	showPane('Two runs', keepHash ? null : {run: runs[0].id, with: runs[1].id});
	const pairs = aligned(all[0].fires, all[1].fires, (x, y) => x.point === y.point);
	const rows = el('ol', {class: 'pairs-of', 'aria-label': 'Fires of both runs'});
	const counts = {};
	for (const [a, b] of pairs) {
		const status = statusOf(a, b);
		counts[status] = (counts[status] || 0) + 1;
		rows.append(pairRow(a, b, status, runs));
	}
	main.replaceChildren(
		backToRuns(),
		el('h2', {}, 'Two runs'), summaryOf(runs),
		el('p', {class: 'note'}, Object.entries(counts).map(([status, n]) => `${n} ${status}`).join(', ')),
		all[0].more || all[1].more ? el('p', {class: 'note'}, `Compared: the first ${plural(most, 'fire')} of each run `,
			most < mostPairs ? el('button', {type: 'button', class: 'more',
				click: () => openComparison(which, other, {keepHash: true, most: 2 * most})}, 'Compare more') : null) : '',
		rows);
	mark();
	main.focus();
}

// summaryOf shows what is known of both runs in a table.
function summaryOf(runs) {
	const row = (name, of) => [name, ...runs.map(of)];
	const heads = runs.map(r => el('button', {type: 'button', class: 'more', click: () => openRun({number: r.number}, {focus: true})},
		shown(titleOf(r))));
	const t = table(['', ...heads], [
		row('Outcome', r => outcome(r) || '–'), row('Started', r => clock(r.start)),
		row('Took', r => duration(millis(r.end) - millis(r.start))), row('Cost', r => r.summary.cost ? amount(r.summary.cost) : '–'),
		row('Tokens', r => r.summary.input || r.summary.output
			? `${amount(r.summary.input || 0)} in, ${amount(r.summary.output || 0)} out` : '–'),
		row('Fires', r => amount(r.all.fires)), row('Exits', r => amount(r.all.exits)),
		row('Failures', r => amount(r.all.failures)), row('Tenant', r => r.tenant ? shown(r.tenant) : '–'),
	]);
	return t;
}

// statusOf compares two fires of a point: what was fired, the decision, and what the hooks made of it.
function statusOf(a, b) {
	if (!a) return 'only right';
	if (!b) return 'only left';
	if (a.decision !== b.decision || a.kind !== b.kind || fails(a) !== fails(b)) return 'other decision';
	if (a.sum !== b.sum) return 'other payload';
	return a.result === b.result ? 'same' : 'other result';
}

function pairRow(a, b, status, runs) {
	const li = el('li', {class: 'pair ' + status.replace(' ', '-')});
	const cell = (f, run) => f ? el('span', {class: 'side'}, ...spaced(
		el('span', {class: 'offset'}, '+' + duration(Math.max(0, millis(f.time) - millis(run.start)))), shown(f.point),
		f.kind === 'continue' && !fails(f) ? null : chip(f), f.by ? el('span', {class: 'by'}, shown(f.by)) : null,
		f.reason ? el('span', {class: 'site'}, shown(f.reason)) : null)) : el('span', {class: 'side none'}, '–');
	const button = el('button', {
		type: 'button', class: 'row', 'data-row': true, 'aria-expanded': 'false', click: () => togglePair(li, a, b),
	}, el('span', {class: 'status'}, status), ' ', cell(a, runs[0]), ' ', cell(b, runs[1]));
	li.append(button);
	return li;
}

async function togglePair(li, a, b) {
	const old = li.querySelector('.detail');
	li.firstChild.setAttribute('aria-expanded', String(!old));
	if (old) {
		old.remove();
		return;
	}
	const box = el('div', {class: 'detail'});
	li.append(box);
	await attempt(box, async () => {
		const [x, y] = [a && await source.fire(a.event), b && await source.fire(b.event)];
		if (!x || !y) {
			box.append(...detail(x || y));
			return;
		}
		for (const [title, what] of [['Payload', 'payload'], ['Exit', 'value'], ['Payload after the hooks', 'final'],
			['Contributions', 'collected']]) {
			if (x[what] || y[what]) box.append(el('h3', {}, title), between(title, x[what], y[what], () => whole(x, y, what)));
		}
	});
}

// whole loads the whole texts of a part of two fires.
async function whole(x, y, what) {
	const load = async d => {
		if (!d[what]) return null;
		const text = (await source.text(d.event, what)).text.trimEnd();
		return {lines: text.split('\n').map(l => ({parts: [{text: l}]}))};
	};
	return [await load(x), await load(y)];
}

// between shows the difference of two texts with the equal lines. Of texts that are cut it compares what was loaded, and
// has a button that loads the rest.
function between(title, was, is, load) {
	const text = l => (l.parts || []).map(p => p.text || '…' + p.cut).join('');
	const [a, b] = [was?.lines || [], is?.lines || []], same = (x, y) => text(x) === text(y);
	let first = 0, last = 0; // lines that are equal at the beginning and at the end
	while (first < Math.min(a.length, b.length) && same(a[first], b[first])) first++;
	while (last < Math.min(a.length, b.length) - first && same(a[a.length - 1 - last], b[b.length - 1 - last])) last++;
	const middle = [a, b].map(l => l.slice(first, l.length - last));
	const few = middle[0].length * middle[1].length < 4e6;
	const changed = few ? aligned(...middle, same) : [...middle[0].map(x => [x, null]), ...middle[1].map(y => [null, y])];
	const box = el('div', {});
	if (!changed.length) box.append(el('p', {class: 'note'}, 'The same in both runs.'));
	else {
		const gap = [{op: '@'}], around = 100; // equal lines
		box.append(lines(title, {lines: [
			...(first > around ? gap : []), ...a.slice(Math.max(0, first - around), first),
			...changed.map(([x, y]) => ({op: !y ? '-' : !x ? '+' : '', parts: (x || y).parts})),
			...a.slice(a.length - last).slice(0, around), ...(last > around ? gap : []),
		]}));
	}
	if (!was?.cut && !is?.cut) return box;
	const rest = el('div', {class: 'after'});
	const compare = async () => box.replaceWith(between(title, ...await load()));
	if (!changed.length) box.firstChild.textContent = 'The same in both runs, as far as it is shown.';
	rest.append(el('button', {type: 'button', click: () => attempt(rest, compare)}, 'Compare the whole texts'));
	box.append(rest);
	return box;
}
