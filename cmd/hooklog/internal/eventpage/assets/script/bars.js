// The time of a run as bars: waits for people, calls of models and tools, steps, the hooks of fires, and the runs that
// it started.

const lanes = {
	person: 'People', model: 'Model', tool: 'Tools', step: 'Steps', hooks: 'Hooks', run: 'Runs',
};
// What a chart shows at first: fires and runs of the whole chart, and bars of a lane. "Show more" adds as many.
const firstPart = {fires: 1000, runs: 20, bars: 150};

// A Course has the first fires of a run and of the runs that it started.
class Course {
	constructor(run, depth = 0) {
		Object.assign(this, {run, depth, fires: [], children: [], skipped: [], next: 0, more: false});
	}

	// all returns the courses of the run and of those below it.
	all() { return [this, ...this.children.flatMap(c => c.all())]; }

	// read adds what follows the fires and runs that were read. A budget bounds those of a whole chart.
	async read(budget) {
		const recent = this.children.slice(-3); // the others have probably ended
		for (const child of this.children) {
			if (child.more || child.skipped.length ? budget.fires <= 0 : !recent.includes(child)) continue;
			child.run = await source.run({number: child.run.number});
			await child.read(budget);
		}
		while (this.skipped.length && budget.runs > 0) await this.begin(this.skipped.shift(), budget);
		let more = true;
		while (more && budget.fires > 0) {
			const part = await source.items(this.run.number, {from: this.next});
			for (const i of part.items) {
				this.next = i.at + 1;
				if (i.fire) {
					this.fires.push(i.fire);
					budget.fires--;
				}
				if (i.run && budget.runs > 0) await this.begin(i.run, budget);
				else if (i.run) this.skipped.push(i.run);
			}
			more = part.more && part.items.length > 0;
		}
		this.more = more && this.run.own.fires > this.fires.length;
	}

	// begin reads a run below.
	async begin(run, budget) {
		budget.runs--;
		const child = new Course(run, this.depth + 1);
		this.children.push(child);
		await child.read(budget);
	}

	// spans returns the bars of the run itself, in milliseconds. A step goes from a fire of BeforeX to the next one of
	// AfterX about the same act. An act that hooks have stopped has no step.
	spans() {
		const spans = [], asked = new Map(), before = [];
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
			} else if (when === 'Before' && f.kind !== 'exit' && !f.error) before.push({what, act: s.call, f});
			else if (when === 'After') {
				const i = before.findIndex(b => b.what === what && (!b.act || !s.call || b.act === s.call));
				if (i < 0) continue;
				const [{f: first}] = before.splice(i, 1);
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
function drawn(spans, most) {
	if (spans.length <= most) return spans;
	const weight = s => (s.fire && (fails(s.fire) || s.fire.kind !== 'continue') ? 1e15 : 0) + s.to - s.from;
	return spans.sort((a, b) => weight(b) - weight(a)).slice(0, most);
}

// A Chart shows the course of a run on a time axis. Its bars are one stop of the Tab key; arrow keys move between them.
class Chart {
	constructor(run) {
		this.course = new Course(run);
		this.parts = 1;
		this.turn = Promise.resolve();
		this.box = el('section', {class: 'chart', 'aria-label': 'Time'});
		this.box.addEventListener('keydown', e => this.key(e));
	}

	// read reads the fires that the chart does not have yet, after an earlier call has read the ones before them.
	read(run) {
		const next = async () => {
			if (run) this.course.run = run;
			await this.course.read({
				fires: this.most('fires') - this.fires(), runs: this.most('runs') - this.course.all().length + 1,
			});
			keepPlace(main, () => this.draw());
		};
		return this.turn = this.turn.then(next, next);
	}

	most(what) { return this.parts * firstPart[what]; }

	fires() { return this.course.all().reduce((sum, c) => sum + c.fires.length, 0); }

	showMore() {
		this.parts++;
		return this.read();
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
		const rows = [];
		this.notes = [];
		for (const lane of ['person', 'model', 'tool', 'step', 'hooks']) {
			const its = spans.filter(s => s.lane === lane);
			if (!its.length) continue;
			const sum = its.reduce((sum, s) => sum + s.to - s.from, 0);
			rows.push(this.lane(lanes[lane], plural(its.length, 'bar') + ', ' + duration(sum), this.drawn(lanes[lane], its)));
		}
		rows.push(...this.children(course));
		this.noteRest();
		const focused = this.box.contains(document.activeElement) ? this.bars().indexOf(document.activeElement) : -1;
		const axis = el('div', {class: 'axis', 'aria-hidden': 'true'});
		for (const t of ticksOf(this.length)) axis.append(this.place(el('span', {}, duration(t)), t, t));
		const note = this.notes.length ? el('p', {class: 'note'}, 'Shown: ' + this.notes.join('; ') + ' ',
			el('button', {type: 'button', class: 'more', click: () => this.showMore()}, 'Show more')) : '';
		const onMore = this.box.querySelector('.note button') === document.activeElement;
		this.box.replaceChildren(el('h3', {}, 'Time'), axis, ...rows, note);
		const bars = this.bars();
		if (bars.length) bars[Math.max(0, focused)].tabIndex = 0;
		if (focused >= 0) bars[focused].focus({preventScroll: true});
		if (onMore) (note ? note.lastChild : bars[0]).focus({preventScroll: true});
	}

	// drawn returns the spans that a lane has room for, and notes that there are more.
	drawn(title, spans) {
		const most = this.most('bars');
		if (spans.length > most) this.notes.push(`${title}: ${most} of ${plural(spans.length, 'bar')}`);
		return drawn(spans, most);
	}

	// noteRest notes the fires and runs that were not read.
	noteRest() {
		const all = this.course.all(), skipped = all.reduce((sum, c) => sum + c.skipped.length, 0);
		if (skipped) this.notes.push(`${all.length - 1} of ${plural(all.length - 1 + skipped, 'run')} below it`);
		if (skipped || all.some(c => c.more)) {
			this.notes.push(`${this.fires().toLocaleString('en')} of ${plural(this.course.run.all.fires, 'fire')}`);
		}
	}

	// children returns a lane for each run below a run, in which its own calls are inside its bar.
	children(course) {
		return course.children.flatMap(child => {
			const r = child.run, title = plain(titleOf(r));
			const inner = this.drawn(title,
				child.spans().filter(s => s.lane !== 'hooks' || s.fire.kind !== 'continue' || fails(s.fire)));
			const whole = {lane: 'run', name: title, from: millis(r.start), to: millis(r.end), run: r};
			const read = child.more ? `, of which ${child.fires.length} are shown` : '';
			const row = this.lane(title, plural(r.all.fires, 'fire') + read, [whole], inner);
			row.style.setProperty('--depth', String(Math.min(child.depth, 3)));
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
