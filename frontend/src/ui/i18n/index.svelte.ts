import { en, type Dictionary } from './en';
import { ko } from './ko';

export type Language = 'en' | 'ko';

const dictionaries: Record<Language, Dictionary> = { en, ko };

/** languageOf turns the setting into a language: auto follows the system. */
export function languageOf(setting: string | undefined, system: readonly string[] = navigator.languages): Language {
	if (setting === 'en' || setting === 'ko') return setting;
	const first = system.find((l) => /^(en|ko)\b/.test(l));
	return first?.startsWith('ko') ? 'ko' : 'en';
}

class I18n {
	language = $state<Language>('en');
	t = $derived(dictionaries[this.language]);

	set(language: Language): void {
		this.language = language;
		document.documentElement.lang = language;
	}
}

/** i18n holds the language of the page. Its t is read in templates, so a change shows at once. */
export const i18n = new I18n();
