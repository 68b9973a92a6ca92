// The time of a run as bars: waits for people, calls of models and tools, steps, the hooks of fires, and the runs that
// it started.

const lanes = {
	person: 'People', model: 'Model', tool: 'Tools', step: 'Steps', hooks: 'Hooks', run: 'Runs',
};
const mostFires = 1000, mostRuns = 20, mostBars = 150; // of a chart; of its sub-runs; of a lane

// A Course has the first fires of a run and of the runs that it started.
class Course {
	constructor(run, depth = 0) {
		Object.assign(this, {run, depth, fires: [], children: [], next: 0, hidden: 0, more: false});
	}

	// read adds what follows the fires that were read. A budget bounds the fires and runs of a whole chart.
	async read(budget) {
		for (const child of this.children.slice(-3)) { // the others have probably ended
			const now = await source.run({number: child.run.number, generation});
			if (!now || now.all.fires === child.run.all.fires) continue;
			child.run = now;
			await child.read(budget);
		}
		for (this.more = true; this.more && budget.fires > 0;) {
			const {items, more} = await source.items(this.run.number, {from: this.next});
			for (const i of items) {
				this.next = i.at + 1;
				if (i.fire) this.fires.push(i.fire);
				if (i.fire) budget.fires--;
				if (!i.run) continue;
				if (this.depth > 2 || budget.runs-- <= 0) {
					this.hidden++;
					continue;
				}
				const child = new Course(i.run, this.depth + 1);
				this.children.push(child);
				await child.read(budget);
			}
			this.more = more && items.length > 0;
		}
	}

	// spans returns the bars of the run itself, in milliseconds.
	spans() {
		const spans = [], asked = new Map(), before = new Map();
		const add = (lane, name, from, to, fire) => spans.push({lane, name, from, to: Math.max(from, to), fire});
		for (const f of this.fires) {
			const t = millis(f.time), s = f.span || {}, [, when, what] = /^(Before|After)(.+)$/.exec(f.point) || [];
			add('hooks', f.point, t, t + nanos(f.elapsed), f);
			if (s.kind === 'model' || s.kind === 'tool') {
				if (s.took) add(s.kind, s.name || s.kind, t - nanos(s.took), t, f);
			} else if (s.kind === 'ask') asked.set(s.call || '', f);
			else if (s.kind === 'answer') {
				const ask = asked.get(s.call || '');
				if (ask) add('person', s.name || 'the run', millis(ask.time) + nanos(ask.elapsed), t, f);
				asked.delete(s.call || '');
			} else if (when === 'Before') before.set(what, [...(before.get(what) || []), f]);
			else if (when === 'After' && before.get(what)?.length) {
				const first = before.get(what).shift();
				add('step', what, millis(first.time) + nanos(first.elapsed), t, f);
			}
		}
		for (const ask of asked.values()) {
			if (ask.point === 'BeforeAsk') add('person', ask.span.name, millis(ask.time), millis(this.run.end), ask);
		}
		return spans;
	}
}

// ticksOf returns the places of at most six ticks of an axis.
function ticksOf(length) {
	const rough = length / 6, unit = 10 ** Math.floor(Math.log10(rough));
	const step = unit * [1, 2, 5, 10].find(n => n * unit >= rough);
	const ticks = [];
	for (let t = 0; t <= length * 1.0001; t += step) ticks.push(t);
	return ticks;
}

// stacked gives each span the first level at which it overlaps no other one, at most a few levels.
function stacked(spans, gap) {
	const ends = [];
	for (const s of spans.sort((a, b) => a.from - b.from)) {
		let level = ends.findIndex(end => end <= s.from);
		if (level < 0) level = Math.min(ends.length, 3);
		s.level = level;
		ends[level] = Math.max(ends[level] || 0, s.to + gap);
	}
	return Math.max(1, ends.length);
}

// drawn returns the spans that a lane has room for: those with a decision first, and the longest.
function drawn(spans) {
	if (spans.length <= mostBars) return spans;
	const weight = s => (s.fire && (fails(s.fire) || s.fire.kind !== 'continue') ? 1e15 : 0) + s.to - s.from;
	return spans.sort((a, b) => weight(b) - weight(a)).slice(0, mostBars);
}

// A Chart shows the course of a run on a time axis. Its bars are one stop of the Tab key; arrow keys move between them.
class Chart {
	constructor(run) {
		this.course = new Course(run);
		this.turn = Promise.resolve();
		this.box = el('section', {class: 'chart', 'aria-label': 'Time'});
		this.box.addEventListener('keydown', e => this.key(e));
	}

	// read reads the fires that the chart does not have yet, after an earlier call has read the ones before them.
	read(run) {
		const fires = c => c.fires.length + c.children.reduce((sum, child) => sum + fires(child), 0);
		const next = async () => {
			if (run) this.course.run = run;
			await this.course.read({fires: mostFires - fires(this.course), runs: mostRuns - this.course.children.length});
			keepPlace(main, () => this.draw());
		};
		return this.turn = this.turn.then(next, next);
	}

	draw() {
		const course = this.course, spans = course.spans();
		const all = [...spans, {from: millis(course.run.start), to: millis(course.run.end)}];
		this.from = all.reduce((least, s) => Math.min(least, s.from), Infinity);
		this.length = Math.max(0.001, all.reduce((most, s) => Math.max(most, s.to), -Infinity) - this.from);
		if (course.more) { // the axis ends with what was read
			const read = spans.reduce((most, s) => Math.max(most, s.to), this.from);
			this.length = Math.max(0.001, read - this.from);
		}
		const rows = [], notes = [];
		for (const lane of ['person', 'model', 'tool', 'step', 'hooks']) {
			const its = spans.filter(s => s.lane === lane);
			if (!its.length) continue;
			const sum = its.reduce((sum, s) => sum + s.to - s.from, 0);
			rows.push(this.lane(lanes[lane], plural(its.length, 'bar') + ', ' + duration(sum), drawn(its)));
			if (its.length > mostBars) notes.push(`${lanes[lane]}: ${mostBars} of ${plural(its.length, 'bar')}`);
		}
		rows.push(...this.children(course));
		if (course.hidden) notes.push(`${plural(course.hidden, 'more run')} below it`);
		if (course.more) notes.push(`the first ${plural(course.fires.length, 'fire')} of ${amount(course.run.own.fires)}`);
		const focused = this.box.contains(document.activeElement) ? this.bars().indexOf(document.activeElement) : -1;
		const axis = el('div', {class: 'axis', 'aria-hidden': 'true'});
		for (const t of ticksOf(this.length)) axis.append(this.place(el('span', {}, duration(t)), t, t));
		this.box.replaceChildren(el('h3', {}, 'Time'), axis, ...rows,
			notes.length ? el('p', {class: 'note'}, 'Shown: ' + notes.join('; ')) : '');
		const bars = this.bars();
		if (bars.length) bars[Math.max(0, focused)].tabIndex = 0;
		if (focused >= 0) bars[focused].focus({preventScroll: true});
	}

	// children returns a lane for each run below a run, in which its own calls are inside its bar.
	children(course) {
		return course.children.flatMap(child => {
			const r = child.run, title = plain(titleOf(r));
			const inner = drawn(child.spans().filter(s => s.lane !== 'hooks' || s.fire.kind !== 'continue' || fails(s.fire)));
			const whole = {lane: 'run', name: title, from: millis(r.start), to: millis(r.end), run: r};
			const row = this.lane(title, plural(r.all.fires, 'fire'), [whole], inner);
			row.style.setProperty('--depth', String(child.depth));
			return [row, ...this.children(child)];
		});
	}

	lane(title, fact, spans, inner = []) {
		const gap = this.length / 140; // two bars that are nearer than this need two levels
		const levels = stacked(spans, gap), more = inner.length ? stacked(inner, gap) : 0;
		const track = el('div', {class: 'track'});
		track.style.setProperty('--levels', String(levels + more));
		for (const s of [...spans, ...inner]) {
			track.append(this.bar(s, inner.includes(s) ? s.level + levels : s.level));
		}
		return el('div', {class: 'lane', role: 'group', 'aria-label': `${title}, ${fact}`},
			el('span', {class: 'label', 'aria-hidden': 'true'}, shown(title)), track);
	}

	bar(s, level) {
		const f = s.fire, hooks = s.lane === 'hooks', took = hooks ? nanos(f.elapsed) : s.to - s.from;
		const slow = hooks && f.elapsed >= data.slow;
		const kind = !hooks ? '' : fails(f) ? 'fails' : f.kind;
		const text = `${lanes[s.lane]}: ${plain(s.name)}, ${duration(took)}, at +${duration(s.from - this.from)}` +
			(hooks && f.kind !== 'continue' ? ', ' + plain(f.decision) : '') + (slow ? ', slow' : '') +
			(f && fails(f) ? ', failed' : '');
		const bar = el('button', {
			type: 'button', class: `bar-of ${s.lane} ${kind}${slow ? ' slow' : ''}`, 'aria-label': text, title: text, tabindex: '-1',
			click: () => s.run ? openRun({number: s.run.number}, {focus: true})
				: openRun({number: f.run}, {event: f.event, focus: true}),
		});
		bar.style.setProperty('--level', String(level));
		return this.place(bar, s.from - this.from, s.to - this.from);
	}

	place(e, from, to) {
		e.style.left = `${100 * Math.min(1, from / this.length)}%`;
		e.style.width = `${100 * Math.min(1, (to - from) / this.length)}%`;
		return e;
	}

	bars() { return [...this.box.querySelectorAll('.bar-of')]; }

	key(e) {
		const bars = this.bars(), at = bars.indexOf(e.target);
		const to = {ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: bars.length - 1}[e.key];
		if (at < 0 || to === undefined || !bars[to]) return;
		bars[at].tabIndex = -1;
		bars[to].tabIndex = 0;
		bars[to].focus();
		e.preventDefault();
	}
}
