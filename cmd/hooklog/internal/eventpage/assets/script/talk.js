// The run of an agent as a conversation.

const speakers = {
	system: 'System', user: 'Task', assistant: 'Assistant', tool: 'Tool', person: 'Person', hook: 'Hooks', end: 'End',
};

// A Talk has the part of the conversation of a run that was loaded.
class Talk {
	constructor(run) {
		Object.assign(this, {run, next: 0, more: false});
		this.list = el('ol', {class: 'talk', 'aria-label': 'Conversation'});
		this.later = el('button', {class: 'more', type: 'button', hidden: true, click: () => this.start()}, 'Show more');
		this.trouble = el('div', {});
		this.box = el('div', {}, this.list, this.trouble, this.later);
	}

	// start loads more when a reader asks for it.
	start() { return attempt(this.trouble, () => this.load()); }

	async load() {
		const {items, more} = await source.items(this.run.number, {from: this.next, kind: 'conversation'});
		for (const i of items) {
			if (i.at < this.next) continue;
			this.next = i.at + 1;
			const li = i.run ? this.sub(i.run) : i.fire?.said ? this.said(i.fire) : null;
			if (li) this.list.append(li);
		}
		this.more = more;
		this.later.hidden = !more;
	}

	async refresh() {
		if (!this.more) await this.load();
		return 0;
	}

	sub(r) {
		return el('li', {class: 'turn sub'}, el('button', {
			type: 'button', class: 'who', 'data-row': true, click: () => openRun({number: r.number}, {focus: true, view: 'talk'}),
		}, el('b', {}, 'Run'), ' ', shown(titleOf(r)), ' ', facts(r)));
	}

	said(f) {
		const s = f.said, took = f.span?.took ? duration(nanos(f.span.took)) : null;
		const who = el('button', {
			type: 'button', class: 'who', 'data-row': true, title: 'Show the fire',
			click: () => openRun({number: this.run.number}, {event: f.event, focus: true, view: 'fires'}),
		}, ...spaced(el('b', {}, speakers[s.role] || 'Fire'), s.name ? shown(s.name) : null,
			s.state ? el('span', {class: s.failed ? 'bad' : ''}, shown(s.state)) : null,
			s.failed && !s.state ? el('span', {class: 'bad'}, 'failed') : null,
			f.kind === 'continue' && !fails(f) ? null : chip(f),
			el('span', {class: 'facts'}, ...spaced(f.by ? el('span', {}, shown(f.by)) : null,
				el('span', {}, '+' + duration(Math.max(0, millis(f.time) - millis(this.run.start)))),
				took ? el('span', {}, 'took ' + took) : null))));
		const parts = [who];
		if (s.before) parts.push(el('p', {class: 'note'}, `after ${plural(s.before, 'earlier message')}`));
		if (s.reasoning) parts.push(el('details', {}, el('summary', {}, 'Reasoning'), words(s.reasoning)));
		if (s.text && s.role === 'system') parts.push(el('details', {}, el('summary', {}, 'Prompt'), words(s.text)));
		else if (s.text) parts.push(words(s.text));
		for (const c of s.calls || []) {
			parts.push(el('div', {class: 'call'}, el('b', {}, shown(c.name)), c.args ? words(c.args) : null));
		}
		if (f.reason && f.reason !== s.text) parts.push(el('p', {class: 'note'}, shown(f.reason)));
		if (s.change) {
			parts.push(el('details', {open: true}, el('summary', {}, 'Changed by hooks'), lines('Changed by hooks', s.change)));
		}
		return el('li', {class: `turn ${s.role in speakers ? s.role : ''}${s.failed ? ' fails' : ''}`}, ...parts);
	}
}

const words = text => {
	const e = shown(text, 'p');
	e.className = 'words';
	return e;
};
