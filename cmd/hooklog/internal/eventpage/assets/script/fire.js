// The details of a fire: its decision, votes, failures, and payloads with their changes.

async function toggle(li, event) {
	const button = li.firstChild, old = li.querySelector('.detail');
	if (old) {
		old.remove();
		button.setAttribute('aria-expanded', 'false');
		return;
	}
	button.setAttribute('aria-expanded', 'true');
	const box = el('div', {class: 'detail'});
	await attempt(box, async () => {
		const d = await source.fire(event);
		box.append(...detail(d));
		if (!opened) return;
		opened.event = event;
		history.replaceState(null, '', '#' + new URLSearchParams(addressOf(d)));
	});
	if (!li.querySelector('.detail')) li.append(box);
}

function detail(d) {
	const pair = (name, value) => value ? [el('dt', {}, name), el('dd', {}, value)] : [];
	const site = d.site ? el('span', {class: 'site'}, shown(d.site)) : null;
	const place = el('span', {class: 'site'}, shown(`${d.file}:${d.line}`));
	const parts = [el('dl', {class: 'pairs'},
		...pair('Decision', chip({...d, failures: 0, error: false})),
		...pair('Decided by', d.by ? el('span', {}, shown(d.by), ' ', site || '') : null),
		...pair('Reason', d.whole ? shown(d.whole) : null),
		...pair('Key', d.key ? shown(d.key) : null),
		...pair('Error', d.errorText ? el('span', {class: 'bad'}, shown(d.errorText)) : null),
		...pair('Time', `${new Date(d.time).toISOString().replace('T', ' ')}, the hooks took ${duration(nanos(d.elapsed))}`),
		...pair('Event', el('span', {}, `number ${d.seq}, `, place)))];
	if (d.failed) {
		parts.push(el('h3', {}, 'Failures'), table(['Hook', 'Cause'], d.failed.map(f => [
			el('span', {}, shown(f.by), ' ', el('span', {class: 'site'}, shown(f.site))), el('span', {class: 'bad'}, shown(f.cause)),
		])));
	}
	if (d.slow) {
		parts.push(el('h3', {}, 'Slow hooks'), table(['Hook', 'Time', 'In the fire'], d.slow.map(h => [
			el('span', {}, shown(h.by), ' ', el('span', {class: 'site'}, shown(h.site))), duration(nanos(h.elapsed)),
			timeBar(h, d.elapsed),
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
	if (d.omitted) parts.push(el('p', {}, 'Only in earlier events: ', shown(d.omitted.join(', '))));
	if (d.change) parts.push(...textPart('Payload, before and after the hooks', d.change, d.event, ['payload', 'final']));
	else if (d.final) {
		parts.push(...textPart('Payload before the hooks', d.payload, d.event, ['payload']),
			...textPart('Payload after the hooks', d.final, d.event, ['final']));
	} else parts.push(...textPart('Payload', d.payload, d.event, ['payload']));
	return parts;
}

// timeBar shows when a hook ran, from the beginning of its fire to the end.
function timeBar(h, whole) {
	const bar = el('div', {class: 'took'}), share = ns => Math.max(0, Math.min(100, 100 * ns / (whole || 1)));
	bar.style.setProperty('--from', `${share(h.after)}%`);
	bar.style.setProperty('--length', `${share(h.elapsed)}%`);
	return bar;
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
			buttons.append(el('button', {type: 'button', 'data-what': what, click: () => loadWhole(pre, buttons, event, what)},
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

// loadWhole shows the whole text.
function loadWhole(pre, buttons, event, what) {
	const others = [...buttons.querySelectorAll('button')].filter(b => b.dataset.what !== what);
	return attempt(buttons, async () => {
		const whole = shown((await source.text(event, what)).text, 'span');
		whole.className = 'l';
		pre.replaceChildren(whole);
		buttons.replaceChildren(...others);
		pre.focus();
	});
}
