const KEPT = 'oxios.theme';

/** theme shows the page light or dark, or as the system says, and follows the system while it does. */
export function theme(setting: string): (() => void) | undefined {
	const dark = matchMedia('(prefers-color-scheme: dark)');
	const chosen = setting || localStorage.getItem(KEPT) || 'auto';
	if (setting) localStorage.setItem(KEPT, setting);
	const show = () => {
		const on = chosen === 'dark' || (chosen === 'auto' && dark.matches);
		document.documentElement.dataset.theme = on ? 'dark' : 'light';
	};
	show();
	if (chosen !== 'auto') return undefined;
	dark.addEventListener('change', show);
	return () => dark.removeEventListener('change', show);
}
