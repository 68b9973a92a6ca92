// Where the data comes from: the server, or this file. Both sources have the same methods.

function serverSource() {
	async function get(path, query) {
		const values = Object.entries(query || {}).filter(([, v]) => v !== undefined && v !== null && v !== '');
		const reply = await fetch('/api/' + path + '?' + new URLSearchParams(values), {cache: 'no-store'});
		if (!reply.ok) throw new Error((await reply.text()).trim());
		return reply.json();
	}
	return {
		status: () => get('status'),
		runs: (query, order, after) => get('runs', {...query, order, ...after}),
		numbers: () => get('numbers'),
		run: query => get('run', query),
		items: (run, w) => get('items', {run, ...w}),
		fire: event => get('fire', {event}),
		text: (event, what) => get('text', {event, what}),
		find: (query, before) => get('find', {...query, before}),
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
	const has = (value, text) => {
		if (typeof value === 'string') return value.toLowerCase().includes(text);
		return value !== null && typeof value === 'object' && Object.values(value).some(v => has(v, text));
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
			(!text || has(f, text) || has(whole(f.event), text));
	};
	const topOf = number => (data.pages[number].above[0] || data.pages[number]).number;
	const whole = n => ['payload', 'final', 'value', 'collected'].map(what => data.texts[n + '/' + what] || '');
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
		text: async (n, what) => ({text: data.texts[n + '/' + what] || ''}),
		find: async q => ({fires: numbers.map(n => data.fires[n]).filter(f => found(f, q)), next: 0}),
	};
}

const source = data.live ? serverSource() : fileSource();
const fails = f => Boolean(f.failures || f.error);
