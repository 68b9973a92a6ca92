// The page can be used with the keyboard alone.

const calm = matchMedia('(prefers-reduced-motion: reduce)');

function focusRow(row, block = 'nearest') {
	row.focus({preventScroll: true});
	row.scrollIntoView({block, behavior: calm.matches || block !== 'nearest' ? 'instant' : 'auto'});
}

function move(step) {
	const active = document.activeElement;
	let pane = active.closest('nav') ? list : active.closest('main') ? main : null;
	if (!pane) pane = opened && main.querySelector('[data-row]') ? main : list;
	const all = [...pane.querySelectorAll('[data-row]')].filter(r => r.offsetParent);
	if (!all.length) return;
	const row = active.closest('[data-row]') || active.closest('li')?.querySelector('[data-row]');
	const at = all.indexOf(row);
	const to = at < 0 ? (step > 0 ? 0 : all.length - 1) : at + step;
	if (to >= 0 && to < all.length) focusRow(all[to]);
}

function escape() {
	const active = document.activeElement;
	if (comparing) {
		chooseOther(null);
		return;
	}
	if (active === byId('text') || active.closest('.search')) {
		setConditions(Object.fromEntries(conditions.map(id => [id, ''])));
		return;
	}
	const li = active.closest('.fires > li, .pair');
	const closes = li && li.firstChild.getAttribute('aria-expanded') === 'true' && !li.classList.contains('sub');
	if (closes) {
		li.querySelector('.detail')?.remove();
		li.firstChild.setAttribute('aria-expanded', 'false');
		focusRow(li.firstChild);
		return;
	}
	if (active.closest('main')) toList();
}

document.addEventListener('keydown', e => {
	if (e.ctrlKey || e.metaKey || e.altKey || byId('keys').open) return;
	const typing = e.target.matches('input:not([type=checkbox]), select, textarea');
	if (e.key === 'Escape') {
		escape();
		e.preventDefault();
		return;
	}
	if (typing) {
		if (e.target === byId('text') && (e.key === 'ArrowDown' || e.key === 'Enter')) {
			list.querySelector('[data-row]')?.focus();
			e.preventDefault();
		}
		return;
	}
	const onRow = document.activeElement.matches('[data-row]') || document.activeElement === document.body ||
		document.activeElement === main;
	const step = e.key === 'j' || e.key === 'ArrowDown' && onRow ? 1 : e.key === 'k' || e.key === 'ArrowUp' && onRow ? -1 : 0;
	if (step) {
		move(step);
		e.preventDefault();
	} else if (e.key === '/') {
		document.querySelector('.panes').classList.remove('opened');
		byId('text').focus();
		byId('text').select();
		e.preventDefault();
	} else if (e.key === '?') {
		byId('keys').showModal();
		e.preventDefault();
	}
});
byId('help').addEventListener('click', () => byId('keys').showModal());
byId('keys-close').addEventListener('click', () => byId('keys').close());

