// What the benchmarks of the window measure inside of a page; the page in a browser is measured with the same.
(() => {
	const painted = (fn) =>
		requestAnimationFrame(() => {
			const { port1, port2 } = new MessageChannel();
			port1.onmessage = fn;
			port2.postMessage(0);
		});
	const sorted = (list) => [...list].sort((a, b) => a - b);
	const share = (list, p) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * p))];
	const figures = (list) => ({ n: list.length, p50: share(list, 0.5), p95: share(list, 0.95), max: share(list, 1) });
	let keys = [];
	// From when the key was pressed, as far as the browser knows it, to when what it changed was drawn.
	addEventListener(
		'keydown',
		(e) => {
			const now = performance.now();
			const at = e.timeStamp > 0 && e.timeStamp <= now && now - e.timeStamp < 10_000 ? e.timeStamp : now;
			painted(() => keys.push(performance.now() - at));
		},
		true,
	);
	window.measure = {
		/** started is when the page drew something, and when its composer took keys: milliseconds of the clock. */
		started() {
			const at = (e) => (e ? performance.timeOrigin + e.startTime : 0);
			const paint = performance.getEntriesByType('paint');
			return JSON.stringify({
				paint: at(paint.find((e) => e.name === 'first-contentful-paint') ?? paint[0]),
				ready: at(performance.getEntriesByName('composer')[0]),
			});
		},
		/** keys are the milliseconds of each key since the last call. */
		keys() {
			const out = JSON.stringify(figures(keys));
			keys = [];
			return out;
		},
		/** open opens a conversation; opened is then how long it took until its end was drawn. */
		open(title) {
			const began = performance.now();
			window.measure.took = 0;
			[...document.querySelectorAll('aside li .open')].find((e) => e.innerText.includes(title)).click();
			const look = () => {
				if (document.querySelector('[role=log] .turn .say')) painted(() => (window.measure.took = performance.now() - began));
				else requestAnimationFrame(look);
			};
			requestAnimationFrame(look);
			return '';
		},
		/** scroll moves up by so many pixels a frame; frames is then how long the frames took. */
		scroll(by, count) {
			const at = document.querySelector('[role=log]');
			const gaps = [];
			let last = performance.now();
			window.measure.frames = '';
			const step = () => {
				const now = performance.now();
				gaps.push(now - last);
				last = now;
				at.scrollTop -= by;
				if (gaps.length < count) requestAnimationFrame(step);
				else window.measure.frames = JSON.stringify(figures(gaps));
			};
			requestAnimationFrame(step);
			return '';
		},
	};
	return 'ready';
})()
