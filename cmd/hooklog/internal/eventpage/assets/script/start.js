// The page starts with the run that its address names, or with the newest one.

async function openHash() {
	const hash = new URLSearchParams(location.hash.slice(1));
	const event = hash.has('event') ? Number(hash.get('event')) : undefined;
	if (hash.has('run')) await openRun({id: hash.get('run')}, {event, keepHash: true});
	else if (event !== undefined) await openRun({number: (await source.fire(event)).run}, {event, keepHash: true});
	else await openFirst();
}

// openFirst opens the newest run, or shows the list if there is no room for both.
async function openFirst() {
	document.querySelector('.panes').classList.remove('opened');
	const first = searching() ? null : list.querySelector('[data-row]');
	if (first && matchMedia('(min-width: 56.01rem)').matches) {
		await openRun({number: first.parentElement.number}, {keepHash: true});
	}
}

async function start() {
	byId('name').textContent = shown(data.name).textContent;
	const status = await source.status();
	generation = status.generation;
	drawStatus(status);
	await loadRuns();
	await openHash();
	if (!opened) await openFirst();
	if (!opened) main.replaceChildren(el('p', {class: 'empty'}, 'Choose a run.'));
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
