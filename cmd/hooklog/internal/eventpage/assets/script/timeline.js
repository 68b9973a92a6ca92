// A Timeline is the list of the fires of a run and of the runs that it started.
class Timeline {
	constructor(run, kind, depth) {
		Object.assign(this, {run, kind, depth, first: 0, next: 0, more: false, children: [], turn: Promise.resolve()});
		this.list = el('ol', {class: 'fires', 'aria-label': depth ? 'Fires of the run' : 'Fires'});
		this.earlier = el('button', {class: 'more', type: 'button', hidden: true, click: () => this.tried(t => t.loadEarlier())}, 'Show earlier fires');
		this.later = el('button', {class: 'more', type: 'button', hidden: true, click: () => this.tried(t => t.load())}, 'Show more fires');
		this.trouble = el('div', {});
		this.box = el('div', {}, this.trouble, this.earlier, this.list, this.later);
	}

	clear() {
		this.list.replaceChildren();
		this.children = [];
	}

	// inTurn runs one change of the list after the other: each continues where the one before has ended.
	inTurn(change) { return this.turn = this.turn.then(change, change); }

	// tried makes a change that a reader asks for.
	tried(change) { return attempt(this.trouble, () => change(this)); }

	// start shows the fires from a little before a place.
	start(at = 0) {
		return this.inTurn(async () => {
			this.clear();
			this.first = this.next = Math.max(0, at - 20);
			this.earlier.hidden = this.first === 0;
			await this.add();
		});
	}

	load(fresh) { return this.inTurn(() => this.add(fresh)); }

	// add adds the next items at the end.
	async add(fresh) {
		const {items, more} = await source.items(this.run.number, {from: this.next, kind: this.kind});
		const made = await this.made(items, fresh);
		if (items.length) this.next = items[items.length - 1].at + 1;
		keepPlace(main, () => this.list.append(...made));
		this.more = more;
		this.later.hidden = !more;
		return made.length;
	}

	loadEarlier() {
		return this.inTurn(async () => {
			const {items, more} = await source.items(this.run.number, {before: this.first, kind: this.kind});
			const made = await this.made(items);
			if (items.length) this.first = items[0].at;
			keepPlace(main, () => {
				this.list.prepend(...made);
				this.earlier.hidden = !more;
			});
			if (made.length) focusRow(made[made.length - 1].querySelector('[data-row]'));
		});
	}

	latest() {
		return this.inTurn(async () => {
			const {items, more} = await source.items(this.run.number, {last: 1, kind: this.kind});
			this.clear();
			this.list.append(...await this.made(items));
			this.first = items.length ? items[0].at : 0;
			this.next = items.length ? items[items.length - 1].at + 1 : 0;
			this.earlier.hidden = !more;
			this.later.hidden = true;
			this.more = false;
			const last = this.list.querySelectorAll(':scope > li > [data-row]');
			if (last.length) focusRow(last[last.length - 1]);
		});
	}

	async made(items, fresh) {
		const made = [];
		for (const i of items) made.push(await this.item(i, fresh));
		return made;
	}

	async item(i, fresh) {
		if (i.run) return this.child(i.run);
		if (i.error) return el('li', {class: 'fails'}, el('p', {class: 'row'}, el('span'), shown(i.error)));
		const f = i.fire;
		const li = el('li', {class: `${f.kind}${fails(f) ? ' fails' : ''}${fresh ? ' fresh' : ''}`});
		const button = el('button', {
			class: 'row', type: 'button', 'data-row': true, 'aria-expanded': 'false', click: () => toggle(li, f.event),
		},
		el('span', {class: 'offset'}, '+' + duration(Math.max(0, millis(f.time) - millis(this.run.start)))),
		' ', el('span', {class: 'point'}, shown(f.point)), ' ',
		el('span', {class: 'said'}, ...spaced(f.kind === 'continue' && !fails(f) ? null : chip(f),
			f.collects ? el('span', {class: 'chip continue'}, 'collects') : null,
			f.by ? el('span', {class: 'by'}, shown(f.by)) : null, f.reason ? shown(f.reason) : null,
			f.excerpt ? el('span', {class: 'excerpt'}, shown(f.excerpt)) : null)),
		' ', el('span', {class: 'elapsed'}, duration(nanos(f.elapsed))));
		li.event = f.event;
		li.append(button);
		return li;
	}

	// child adds a run that this one started. Its fires are loaded when it is opened.
	async child(r) {
		const li = el('li', {class: 'sub'});
		const button = el('button', {class: 'row', type: 'button', 'data-row': true, 'aria-expanded': 'false'});
		const child = {run: r, button, timeline: null};
		this.children.push(child);
		drawChild(child, this.run);
		const open = async () => {
			child.timeline = new Timeline(r, this.kind, this.depth + 1);
			li.append(child.timeline.box);
			button.setAttribute('aria-expanded', 'true');
			await child.timeline.tried(t => t.start());
		};
		button.addEventListener('click', async () => {
			if (!child.timeline) return open();
			child.timeline.box.remove();
			child.timeline = null;
			button.setAttribute('aria-expanded', 'false');
		});
		li.append(button);
		if (r.all.fires <= 60 && this.depth < 3) await open();
		return li;
	}

	// show opens a fire that was loaded.
	async show(event, focus) {
		const li = [...this.box.querySelectorAll('.fires > li')].find(e => e.event === event);
		if (!li) return;
		if (li.firstChild.getAttribute('aria-expanded') !== 'true') await toggle(li, event);
		if (focus) focusRow(li.firstChild, 'start');
		else li.scrollIntoView({block: 'start'});
	}

	// refresh adds fires that were written since, unless the reader has not asked for the ones before them.
	async refresh() {
		let added = 0;
		for (const child of [...this.children]) {
			if (!child.timeline && this.children.indexOf(child) < this.children.length - 3) continue;
			const now = await source.run({number: child.run.number});
			if (now.all.fires === child.run.all.fires) continue;
			child.run = now;
			keepPlace(main, () => drawChild(child, this.run));
			if (child.timeline) added += await child.timeline.refresh();
		}
		if (!this.more) added += await this.load(true);
		return added;
	}
}

function drawChild(child, parent) {
	const r = child.run;
	child.button.replaceChildren(
		el('span', {class: 'offset'}, '+' + duration(Math.max(0, millis(r.start) - millis(parent.start)))),
		' ', el('span', {}, shown(titleOf(r)), ' ', facts(r)));
}

function chip(f) {
	const kind = fails(f) && f.kind === 'continue' ? 'fails' : f.kind;
	return el('span', {class: 'chip ' + kind}, fails(f) && f.kind === 'continue' ? 'failed' : shown(f.decision));
}
