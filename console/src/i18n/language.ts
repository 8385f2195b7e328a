/** Language of the console and the locale of its dates and numbers. */

const STORAGE_KEY = "parlance-language";

interface Language {
  /** BCP 47 tag, and the name of the catalog in `locales`. */
  id: string;
  /** Name in the language itself. */
  name: string;
  /** Whether the menu offers the language. `npm run check` then refuses a catalog that lacks a text. */
  isComplete: boolean;
}

export const SOURCE_LANGUAGE = "en";
/** English with accents and a third longer, which shows texts that nobody translates and labels that do not fit. */
export const PSEUDO_LANGUAGE = "en-XA";

export const LANGUAGES: readonly Language[] = [
  { id: SOURCE_LANGUAGE, name: "English", isComplete: true },
  { id: "de", name: "Deutsch", isComplete: true },
  { id: "es", name: "Español", isComplete: true },
  { id: "fr", name: "Français", isComplete: true },
  { id: "ja", name: "日本語", isComplete: true },
  { id: "pt", name: "Português (Brasil)", isComplete: true },
  { id: "zh", name: "简体中文", isComplete: true },
];

let language = SOURCE_LANGUAGE;
let locale = toLocale(SOURCE_LANGUAGE, browserLocales());

export function currentLanguage(): string {
  return language;
}

/** Locale of dates, numbers and money: the browser's variant of the language if it has one, such as `de-CH`. */
export function currentLocale(): string {
  return locale;
}

export function setCurrentLanguage(id: string): void {
  language = id;
  locale = toLocale(id, browserLocales());
}

/** The language that the person chose in this browser, or undefined: that of the browser. */
export function storedLanguage(): string | undefined {
  try {
    const id = localStorage.getItem(STORAGE_KEY);
    return id === PSEUDO_LANGUAGE || LANGUAGES.some((each) => each.id === id) ? (id ?? undefined) : undefined;
  } catch {
    // A browser may refuse storage.
    return undefined;
  }
}

export function storeLanguage(id: string | undefined): void {
  try {
    if (id === undefined) localStorage.removeItem(STORAGE_KEY);
    else localStorage.setItem(STORAGE_KEY, id);
  } catch {
    // The choice then lasts as long as the page.
  }
}

export function browserLocales(): readonly string[] {
  return globalThis.navigator?.languages ?? [];
}

/** The first language of the browser that the console has, else English. */
export function preferredLanguage(locales: readonly string[]): string {
  const offered = new Set(LANGUAGES.filter(({ isComplete }) => isComplete).map(({ id }) => id));
  return locales.map(primaryLanguage).find((id) => offered.has(id)) ?? SOURCE_LANGUAGE;
}

export function toLocale(id: string, locales: readonly string[]): string {
  const primary = primaryLanguage(id);
  return locales.find((each) => primaryLanguage(each) === primary) ?? primary;
}

function primaryLanguage(locale: string): string {
  return locale.split("-", 1)[0]?.toLowerCase() ?? locale;
}
