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

/** Told is what a failure of the kernel says, in both languages. */
export interface Told {
	message: string;
	hint?: string;
	message_ko?: string;
	hint_ko?: string;
}

class I18n {
	language = $state<Language>('en');
	t = $derived(dictionaries[this.language]);
	/** other are the words of the other language: who looks for something may use those. */
	other = $derived(dictionaries[this.language === 'ko' ? 'en' : 'ko']);

	/** either is a text that comes in both languages; one without Korean is the same for both. */
	either(en: string | undefined, ko: string | undefined): string {
		return (this.language === 'ko' && ko) || (en ?? '');
	}

	/** said is a failure in one text: what happened, then what to do. */
	said(f: Told): string {
		return [this.either(f.message, f.message_ko), this.either(f.hint, f.hint_ko)].filter(Boolean).join(' ');
	}

	set(language: Language): void {
		this.language = language;
		document.documentElement.lang = language;
	}
}

/** i18n holds the language of the page. Its t is read in templates, so a change shows at once. */
export const i18n = new I18n();
