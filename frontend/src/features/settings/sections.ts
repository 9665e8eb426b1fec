/** The sections of the settings, in the order of the list. */
export const sections = [
	'general',
	'models',
	'permissions',
	'folders',
	'memory',
	'knowledge',
	'web',
	'programs',
	'language',
	'appearance',
	'keyboard',
	'notifications',
	'limits',
	'storage',
	'about',
] as const;

export type Section = (typeof sections)[number];
