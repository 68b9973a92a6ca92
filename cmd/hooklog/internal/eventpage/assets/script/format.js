// Numbers, times and sizes for people.

const plural = (n, one, many) => `${n.toLocaleString('en')} ${n === 1 ? one : many || one + 's'}`;

function duration(ms) {
	if (ms < 0.001) return ms > 0 ? '<1 µs' : '0 µs';
	if (ms < 1) return `${Math.round(ms * 1000)} µs`;
	if (ms < 10) return `${ms.toFixed(1)} ms`;
	if (ms < 1000) return `${Math.round(ms)} ms`;
	if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
	const s = Math.round(ms / 1000), pad = n => String(n).padStart(2, '0');
	return s < 3600 ? `${Math.floor(s / 60)}:${pad(s % 60)} min`
		: `${Math.floor(s / 3600)}:${pad(Math.floor(s / 60) % 60)} h`;
}

function size(bytes) {
	for (const [unit, n] of [['MB', 1 << 20], ['KB', 1 << 10]]) {
		if (bytes >= n) return `${(bytes / n).toFixed(1)} ${unit}`;
	}
	return plural(bytes, 'byte');
}

// millis reads a time with its fraction, of which Date.parse reads only milliseconds.
function millis(time) {
	const fraction = /\.\d+/.exec(time);
	return Date.parse(time.replace(/\.\d+/, '')) + (fraction ? 1000 * Number('0' + fraction[0]) : 0);
}

const nanos = n => n / 1e6;

function clock(time) {
	const t = new Date(time), today = new Date();
	const options = {hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false};
	if (t.toDateString() !== today.toDateString()) Object.assign(options, {day: 'numeric', month: 'short'});
	if (t.getFullYear() !== today.getFullYear()) options.year = 'numeric';
	return t.toLocaleString('en-GB', options);
}
