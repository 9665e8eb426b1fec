import { STILL, Still, type Eyes } from './still.svelte';

/** FakeEyes are a time and a screen of a test's own. */
export class FakeEyes implements Eyes {
	at = 0;
	where: string | undefined = 'here';
	fronted = true;

	now = () => this.at;
	place = () => this.where;
	front = () => this.fronted;
	when = () => this.at;
}

/** standing makes a Still whose time passes with wait: it looks as often as a real one. */
export function standing(kind?: 'card' | 'question') {
	const eyes = new FakeEyes();
	const still = new Still(kind, eyes);
	const wait = (ms: number) => {
		for (; ms > 0; ms -= 100) {
			eyes.at += Math.min(ms, 100);
			still.look();
		}
	};
	return { eyes, still, wait, stand: () => wait(STILL) };
}
