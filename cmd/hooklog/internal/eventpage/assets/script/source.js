// Where the data comes from: the server, or this file. Both sources have the same methods.

function serverSource() {
	// get asks the server. Numbers of runs and events are those of the generation that the page shows.
	async function get(path, query, signal) {
		const values = Object.entries({generation, ...query}).filter(([, v]) => v !== undefined && v !== null);
		const reply = await fetch('/api/' + path + '?' + new URLSearchParams(values), {cache: 'no-store', signal});
		if (!reply.ok) throw new Error((await reply.text()).trim());
		const result = await reply.json();
		if (result === null) throw new Error('The record was read again meanwhile.');
		return result;
	}
	return {
		status: () => get('status', {generation: null}),
		runs: (query, order, after, signal) => get('runs', {...query, order, ...after}, signal),
		numbers: () => get('numbers'),
		run: query => get('run', query),
		items: (run, w) => get('items', {run, ...w}),
		fire: event => get('fire', {event}),
		event: async (run, sought) => (await get('event', {run, ...sought})).event,
		text: (event, what) => get('text', {event, what}),
		find: (query, before, signal) => get('find', {...query, before}, signal),
	};
}

function fileSource() {
	const numbers = Object.keys(data.fires).map(Number).sort((a, b) => b - a);
	const decides = f => f.kind !== 'continue' || fails(f) || f.collects;
	const fits = (f, kind) => {
		switch (kind) {
		case 'decisions': return decides(f);
		case 'failures': return fails(f);
		case 'slow': return f.elapsed >= data.slow;
		case 'conversation': return Boolean(f.said);
		}
		return true;
	};
	const need = value => {
		if (!value) throw new Error('this file does not have it');
		return value;
	};
	const wholes = ['payload', 'final', 'value', 'collected'];
	const joined = text => text ? text.lines.map(l => (l.parts || []).map(p => p.text || '').join('')).join('\n') : '';
	const whole = (n, what) => data.texts[n + '/' + what] || joined(data.fires[n][what]);
	// compact returns the JSON of a text that was made readable: as it is in the record, where the server searches.
	const compact = text => text.replace(/\\n\n */g, '\\n').replace(/("(?:[^"\\]|\\.)*")|\s+/g, '$1');
	const has = (f, text) => {
		const quoted = JSON.stringify(text).slice(1, -1), labels = data.pages[f.run].summary.labels || {};
		const names = [f.point, f.spec, f.runID, f.parent, f.decision, f.by, f.site, f.whole, f.errorText,
			...Object.entries(labels).flat(), ...(f.ballots || []).flatMap(b => [b.by, b.site, b.decision, b.reason]),
			...(f.failed || []).flatMap(g => [g.by, g.site, g.cause]), ...(f.slow || []).flatMap(h => [h.by, h.site])];
		const values = [f.key || '', ...wholes.map(what => whole(f.event, what)), ...(f.ballots || []).map(b => joined(b.value))];
		return names.some(n => n?.toLowerCase().includes(text)) || values.map(v => compact(v).toLowerCase())
			.some(v => v.includes(text) || v.includes(quoted));
	};
	const length = r => millis(r.end) - millis(r.start);
	const keys = {
		duration: length, cost: r => r.cost || 0, fires: r => r.all.fires, failures: r => r.all.failures,
	};
	const ofRun = (r, q) => (!q.outcome || r.outcome === q.outcome) && (!q.tenant || r.tenant === q.tenant) &&
		(r.cost || 0) >= (q.cost || 0) && length(r) >= 1000 * (q.duration || 0);
	const found = (f, q) => {
		const text = (q.text || '').trim().toLowerCase(), top = data.pages[topOf(f.run)];
		return fits(f, q.kind) && (!q.point || f.point === q.point) && (!q.hook || f.by === q.hook) &&
			(!q.decision || f.decision === q.decision) && ofRun(top, q) &&
			(!text || has(f, text));
	};
	const topOf = number => (data.pages[number].above[0] || data.pages[number]).number;
	return {
		status: async () => data.status,
		runs: async (q, order) => {
			const tops = new Set(numbers.filter(n => found(data.fires[n], q)).map(n => topOf(data.fires[n].run)));
			const runs = data.runs.filter(r => tops.has(r.number)), key = keys[order];
			return {runs: key ? runs.sort((a, b) => key(b) - key(a)) : runs, next: null};
		},
		numbers: async () => need(data.numbers),
		run: async q => need(q.id === undefined ? data.pages[q.number] : Object.values(data.pages).find(r => r.id === q.id)),
		items: async (run, w) => {
			const all = need(data.timelines[run]).items.filter(i => i.run || i.error || fits(i.fire, w.kind));
			const some = w.last || w.before !== undefined
				? all.filter(i => w.last || i.at < w.before) : all.filter(i => i.at >= (w.from || 0));
			const most = 200;
			const items = w.last || w.before !== undefined ? some.slice(-most) : some.slice(0, most);
			return {items, more: some.length > items.length};
		},
		fire: async n => need(data.fires[n]),
		event: async (run, {seq, time}) => numbers.findLast(n => data.fires[n].runID === run &&
			data.fires[n].seq === Number(seq) && (!time || millis(data.fires[n].time) === millis(time))) ?? -1,
		text: async (n, what) => ({text: whole(n, what)}),
		find: async q => ({fires: numbers.map(n => data.fires[n]).filter(f => found(f, q)), next: 0}),
	};
}

const source = data.live ? serverSource() : fileSource();
const fails = f => Boolean(f.failures || f.error);
