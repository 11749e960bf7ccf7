/**
 * The language of the console: chosen in this browser, else preferred by the browser, else English.
 * Catalogues load on use.
 */
import i18next from 'i18next';
import { initReactI18next } from 'react-i18next';
import { loadPart } from '../parts/lazy-part';
import type en from './en.json';

declare module 'i18next' {
  interface CustomTypeOptions {
    resources: { translation: typeof en };
  }
}

/** In their own words, which every reader of them knows. */
export const languages = { en: 'English', zh: '中文' } as const;
export type Language = keyof typeof languages;

const storageKey = 'flotilla.language';

interface Catalogue {
  readonly default: object;
}

const catalogues: Readonly<Record<Language, () => Promise<Catalogue>>> = {
  en: () => import('./en.json'),
  zh: () => import('./zh.json'),
};

function isLanguage(text: string | null | undefined): text is Language {
  return text !== null && text !== undefined && Object.hasOwn(languages, text);
}

function preferredLanguage(): Language {
  const kept = localStorage.getItem(storageKey);
  if (isLanguage(kept)) return kept;
  return navigator.languages.map((tag) => tag.slice(0, 2)).find(isLanguage) ?? 'en';
}

/** False where the catalogue did not come: the network is lost, or an update removed the file. */
export async function openStrings(): Promise<boolean> {
  await i18next
    .use(initReactI18next)
    .init({ fallbackLng: false, interpolation: { escapeValue: false }, resources: {} });
  const language = preferredLanguage();
  const catalogue = await loadPart(catalogues[language]);
  if (catalogue !== undefined) await speak(language, catalogue);
  return catalogue !== undefined;
}

/** The present language stays where the catalogue is gone after an update of the hub. */
export async function chooseLanguage(language: Language): Promise<void> {
  const catalogue = await loadPart(catalogues[language]);
  if (catalogue === undefined) return;
  localStorage.setItem(storageKey, language);
  await speak(language, catalogue);
}

async function speak(language: Language, { default: catalogue }: Catalogue): Promise<void> {
  i18next.addResourceBundle(language, 'translation', catalogue, true, true);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language === 'zh' ? 'zh-CN' : language;
}
