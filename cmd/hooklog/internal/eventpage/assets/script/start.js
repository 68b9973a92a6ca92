// The page starts with the run that its address names, or with the newest one.

async function openHash() {
	const hash = new URLSearchParams(location.hash.slice(1));
	const event = hash.has('event') ? Number(hash.get('event')) : undefined;
	if (hash.get('view') === 'numbers') await openNumbers({keepHash: true});
	else if (hash.has('with')) await openComparison({id: hash.get('run')}, {id: hash.get('with')}, {keepHash: true});
	else if (hash.has('run')) await openRun({id: hash.get('run')}, {event, keepHash: true, view: hash.get('view')});
	else if (event !== undefined) await openRun({number: (await source.fire(event)).run}, {event, keepHash: true});
	else await openFirst();
}

// openFirst opens the newest run, or shows the list if there is no room for both.
async function openFirst() {
	document.querySelector('.panes').classList.remove('opened');
	const first = isPlain() ? list.querySelector('[data-row]') : null;
	if (first && matchMedia('(min-width: 56.01rem)').matches) {
		await openRun({number: first.parentElement.number}, {keepHash: true});
	}
}

async function start() {
	byId('name').textContent = plain(data.name);
	byId('numbers').hidden = !data.live && !data.numbers;
	byId('numbers').addEventListener('click', () => openNumbers());
	const status = await source.status();
	generation = status.generation;
	drawStatus(status);
	await startList();
	await openHash();
	if (!opened && !main.childElementCount) await openFirst();
	if (!opened && !main.childElementCount) main.replaceChildren(el('p', {class: 'empty'}, 'Choose a run.'));
	window.addEventListener('hashchange', openHash);
	if (!data.live) return;
	const changes = new EventSource('/api/changes');
	changes.addEventListener('message', e => follow(JSON.parse(e.data)));
	changes.addEventListener('error', () => {
		byId('status').className = 'follows lost';
		byId('status').title = 'hooklog does not answer; it may have ended';
	});
}

start().catch(err => {
	main.replaceChildren(el('p', {class: 'bad'}, shown(err.message)));
});
