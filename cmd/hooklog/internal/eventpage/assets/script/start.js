// The page starts with the run that its address names, or with the newest one.

// openHash opens what the address names. Runs and fires have other numbers when a record is read again, so an address
// has the ID of a run, and the sequence number and the time of a fire.
async function openHash() {
	const hash = new URLSearchParams(location.hash.slice(1)), id = hash.get('run');
	const sought = hash.has('fire') ? {seq: hash.get('fire'), time: hash.get('time')} : null;
	if (hash.get('view') === 'numbers') await openNumbers({keepHash: true});
	else if (hash.has('with')) await openComparison({id}, {id: hash.get('with')}, {keepHash: true});
	else if (id !== null) await openRun({id}, {sought, keepHash: true, view: hash.get('view')});
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

// show shows the record from the beginning.
async function show() {
	const status = await source.status();
	generation = status.generation;
	drawStatus(status);
	await startList();
	await openHash();
	if (!main.childElementCount) main.replaceChildren(el('p', {class: 'empty'}, 'Choose a run.'));
}

async function start() {
	byId('name').textContent = plain(data.name);
	byId('numbers').hidden = !data.live && !data.numbers;
	byId('numbers').addEventListener('click', () => openNumbers());
	window.addEventListener('hashchange', openHash);
	await attempt(main, show);
	if (!data.live) return;
	const changes = new EventSource('/api/changes');
	changes.addEventListener('message', e => follow(JSON.parse(e.data)));
	changes.addEventListener('error', () => {
		byId('status').className = 'follows lost';
		byId('status').title = 'hooklog does not answer; it may have ended';
	});
}

start();
