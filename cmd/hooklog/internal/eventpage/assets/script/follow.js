// The page follows the record while a program writes it.

let generation = 0;
let waiting = null, refreshing = false;

function drawStatus(s) {
	const line = byId('status');
	const read = s.size > s.read ? ` · reading, ${Math.floor(100 * s.read / s.size)} %` : '';
	line.textContent = `${plural(s.runs, 'run')}, ${plural(s.events, 'fire')}${read}`;
	line.className = data.live ? 'follows' : '';
	line.title = data.live ? 'The page follows the file' : '';
	const problems = byId('problems'), n = s.problems.length + s.more;
	problems.hidden = n === 0;
	if (n) {
		problems.firstChild.textContent = plural(n, 'remark') + ' about the record';
		problems.querySelector('ul').replaceChildren(...s.problems.map(p =>
			el('li', {}, shown(p.line ? `${p.file}:${p.line}: ${p.text}` : `${p.file}: ${p.text}`))),
		...(s.more ? [el('li', {}, `and ${plural(s.more, 'line')} more`)] : []));
	}
	fillFilters(s.names);
}

// follow shows what messages about changes say. Messages that come meanwhile are joined.
async function follow(status) {
	waiting = status;
	if (refreshing) return;
	refreshing = true;
	while (waiting) {
		const s = waiting;
		waiting = null;
		try {
			await refresh(s);
		} catch (err) {
			console.warn(err); // the next message tries again
		}
	}
	refreshing = false;
}

async function refresh(status) {
	drawStatus(status);
	if (status.generation !== generation) {
		generation = status.generation;
		opened = null;
		main.replaceChildren(el('p', {class: 'empty'}, 'The record was read again. Choose a run.'));
		await startList();
		await openHash();
		return;
	}
	const runs = await refreshRuns();
	if (runs === list.children.length && main.querySelector(':scope > .empty')) await openFirst(); // the first runs
	const fires = opened ? await refreshOpened() : 0;
	announce(runs, fires);
}

async function refreshOpened() {
	const open = opened, run = await source.run({number: open.number});
	if (open !== opened || run.all.fires === open.run.all.fires) return 0;
	const added = await open.timeline.refresh();
	if (open.talk) await open.talk.refresh();
	if (open !== opened) return 0;
	open.run = run;
	await open.chart.read(run);
	if (open !== opened) return added;
	keepPlace(main, drawRun);
	mark();
	return added;
}

let newFires = 0, newRuns = 0, toSay = null;

// announce reports new fires: with a button if they are out of sight, and in words, but rarely.
function announce(runs, fires) {
	newRuns += runs;
	newFires += fires;
	const end = main.scrollHeight - main.scrollTop - main.clientHeight;
	if (fires && end > 80) {
		const news = byId('news');
		news.count = (news.hidden ? 0 : news.count) + fires;
		news.textContent = `${plural(news.count, 'new fire')} ↓`;
		news.hidden = false;
	}
	if ((newRuns || newFires) && !toSay) {
		toSay = setTimeout(() => {
			say([newRuns && plural(newRuns, 'new run'), newFires && plural(newFires, 'new fire') + ' in this run']
				.filter(Boolean).join(', '));
			newRuns = newFires = 0;
			toSay = null;
		}, 5000);
	}
}

const say = text => { byId('live').textContent = text; };

byId('news').addEventListener('click', () => {
	byId('news').hidden = true;
	const all = opened ? opened.timeline.list.querySelectorAll('[data-row]') : [];
	if (all.length) focusRow(all[all.length - 1], 'end');
});
main.addEventListener('scroll', () => {
	if (main.scrollHeight - main.scrollTop - main.clientHeight < 40) byId('news').hidden = true;
});
