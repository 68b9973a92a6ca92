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
async function firesOf(run) {
	const most = 600;
	let fires = [], next = 0, more = true;
	while (more && fires.length < most) {
		const part = await source.items(run.number, {from: next});
		for (const i of part.items) next = i.at + 1;
		fires.push(...part.items.filter(i => i.fire).map(i => i.fire));
		more = part.more && part.items.length > 0;
	}
	return {fires: fires.slice(0, most), more: more || fires.length > most};
}

async function openComparison(which, other, {keepHash} = {}) {
	chooseOther(null);
	const mine = ++opening;
	let runs, all;
	try {
		runs = [await source.run(which), await source.run(other)];
		all = [await firesOf(runs[0]), await firesOf(runs[1])];
	} catch (err) {
		main.replaceChildren(el('p', {class: 'bad'}, shown(err.message)));
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
		el('button', {class: 'back', type: 'button', click: toList}, '← Runs'),
		el('h2', {}, 'Two runs'), summaryOf(runs),
		el('p', {class: 'note'}, Object.entries(counts).map(([status, n]) => `${n} ${status}`).join(', ') +
			(all[0].more || all[1].more ? '; only the first fires of long runs are compared' : '')),
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

// statusOf compares two fires of a point.
function statusOf(a, b) {
	if (!a) return 'only right';
	if (!b) return 'only left';
	if (a.decision !== b.decision || a.kind !== b.kind || fails(a) !== fails(b)) return 'other decision';
	return a.sum === b.sum ? 'same' : 'other payload';
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
	const details = [a && await source.fire(a.event), b && await source.fire(b.event)];
	if (li.querySelector('.detail')) return;
	const box = el('div', {class: 'detail'});
	if (a && b) {
		for (const [title, part] of [['Payload', d => d.payload], ['Exit', d => d.value], ['Payload after the hooks', d => d.final]]) {
			if (part(details[0]) || part(details[1])) box.append(el('h3', {}, title), between(title, ...details.map(part)));
		}
	} else box.append(...detail(details[0] || details[1]));
	li.append(box);
}

// between shows the difference of two texts, as far as they were loaded, with the equal lines.
function between(title, was, is) {
	const text = l => (l.parts || []).map(p => p.text || '…').join('');
	const pairs = aligned(was?.lines || [], is?.lines || [], (x, y) => text(x) === text(y));
	if (pairs.every(([x, y]) => x && y)) {
		const cut = [was, is].some(t => t?.cut || (t?.lines || []).some(l => (l.parts || []).some(p => p.cut)));
		return el('p', {class: 'note'}, cut ? 'The same in both runs, as far as it is shown.' : 'The same in both runs.');
	}
	return lines(title, {lines: pairs.map(([x, y]) => ({op: !y ? '-' : !x ? '+' : '', parts: (x || y).parts}))});
}
