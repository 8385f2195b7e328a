import { useSyncExternalStore } from "react";
import {
  browserLocales,
  currentLanguage,
  PSEUDO_LANGUAGE,
  preferredLanguage,
  SOURCE_LANGUAGE,
  setCurrentLanguage,
  storedLanguage,
  storeLanguage,
} from "./language.ts";
import { setTranslations, type Translations } from "./translate.ts";

const catalogs = import.meta.glob<Record<string, string>>("./locales/*.json", { import: "default" });
const signInCatalogs = import.meta.glob<Record<string, string>>("./locales/*.json", {
  import: "default",
  query: "?sign-in",
});
/** Catalogs of the texts that are shown: those of the page for signing in, until the console is. */
let shownCatalogs = signInCatalogs;
const listeners = new Set<() => void>();
let changes = 0;

/** Loads the catalog of the language that the person or the browser prefers. Without one, texts stay English. */
export async function startLanguage(): Promise<void> {
  await applyLanguage(storedLanguage() ?? preferredLanguage(browserLocales())).catch(() =>
    applyLanguage(SOURCE_LANGUAGE),
  );
}

/** Loads the texts of all pages; until then, those of the page for signing in. */
export async function loadAllTexts(): Promise<void> {
  if (shownCatalogs === catalogs) return;
  shownCatalogs = catalogs;
  await applyLanguage(currentLanguage());
}

/** Stores the choice and shows the console in it. `undefined` follows the browser. */
export async function chooseLanguage(id: string | undefined): Promise<void> {
  // Stored before anything is drawn: the list of languages shows the choice.
  await applyLanguage(id ?? preferredLanguage(browserLocales()), () => storeLanguage(id));
}

/** The language of the console; a component that uses it renders when it changes. */
export function useLanguage(): string {
  return useSyncExternalStore(subscribe, currentLanguage);
}

/** Changes nothing when another language was chosen while the catalog was loading. */
async function applyLanguage(id: string, store?: () => void): Promise<void> {
  changes += 1;
  const change = changes;
  const translations = await loadTranslations(id);
  if (change !== changes) return;
  setCurrentLanguage(id);
  setTranslations(translations);
  document.documentElement.lang = id;
  store?.();
  for (const listener of listeners) listener();
}

async function loadTranslations(id: string): Promise<Translations> {
  const plurals = new Intl.PluralRules(id);
  const catalog = (await shownCatalogs[`./locales/${id}.json`]?.()) ?? {};
  if (id !== PSEUDO_LANGUAGE) return { catalog, plurals };
  return { catalog, plurals, transform: (await import("./pseudo.ts")).toPseudo };
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
