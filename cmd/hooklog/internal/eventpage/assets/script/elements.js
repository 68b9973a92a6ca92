'use strict';

// Elements. Every text of the record becomes a text node, in shown; nothing is ever parsed as HTML.

const byId = id => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);

// el makes an element. Children are nodes, or texts of this script. Texts of the record go through shown.
function el(name, properties, ...children) {
	const e = document.createElement(name);
	for (const [key, value] of Object.entries(properties || {})) {
		if (value === undefined || value === null || value === false) continue;
		if (key === 'click') e.addEventListener('click', value);
		else if (key === 'class') e.className = value;
		else e.setAttribute(key, value === true ? '' : value);
	}
	e.append(...children.filter(c => c !== null && c !== undefined && c !== false));
	return e;
}

// invisible matches characters that are drawn as nothing or as a blank, or change the direction of a text: the same that
// hooklog escapes in a terminal.
const invisible = /[^\p{L}\p{M}\p{N}\p{P}\p{S} ]|[\p{Default_Ignorable_Code_Point}\u2800\u{1D159}]/gu;

// shown returns a text of the record, isolated from the text around it. A right-to-left override could show
// "exe.txt" for "txt.exe", so such characters are replaced by their numbers.
function shown(text, name = 'bdi') {
	const e = document.createElement(name);
	let from = 0;
	for (const found of text.matchAll(invisible)) {
		const c = found[0];
		const emoji = c === '\uFE0F' && /\p{Emoji}$/u.test(text.slice(Math.max(0, found.index - 2), found.index));
		if (c === '\n' || c === '\t' || emoji) continue;
		if (found.index > from) e.append(text.slice(from, found.index));
		const number = 'U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0');
		e.append(el('span', {class: 'mark', title: 'an invisible character'}, number));
		from = found.index + c.length;
	}
	if (from < text.length) e.append(text.slice(from));
	return e;
}

// plain returns a text of the record as shown makes it, for attributes and names of elements.
const plain = text => shown(text).textContent;

// keepPlace makes a change in a pane and keeps what the reader sees where it is. Browsers do so by themselves only if the
// change does not replace the element that they have chosen to keep. At its beginning, a pane shows what is new there.
function keepPlace(pane, change) {
	const top = pane.getBoundingClientRect().top, place = row => row.getBoundingClientRect().top;
	const seen = pane.scrollTop > 0 &&
		[...pane.querySelectorAll('[data-row]')].find(row => row.getBoundingClientRect().bottom > top);
	const before = seen && place(seen);
	change();
	if (seen && seen.isConnected) pane.scrollTop += place(seen) - before;
}

// attempt makes a change that loads something. If it fails, a place says why, with a button that tries again.
async function attempt(place, change) {
	place.replaceChildren();
	try {
		await change();
	} catch (err) {
		place.replaceChildren(failure(err, () => attempt(place, change)));
	}
}

const failure = (err, again) => el('p', {class: 'bad'}, shown(err.message), ' ',
	el('button', {type: 'button', class: 'more', click: again}, 'Try again'));

// spaced puts a blank between elements, which a screen reader would otherwise join to one word.
const spaced = (...children) => children.filter(Boolean).flatMap(c => [c, ' ']);
