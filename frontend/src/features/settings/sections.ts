/** The sections of the settings, in the order of the list. */
export const sections = [
	'models',
	'permissions',
	'language',
	'appearance',
	'keyboard',
	'notifications',
	'about',
] as const;

export type Section = (typeof sections)[number];
