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
import { i18n } from "./translate.ts";

const NAMESPACE = "translation";
const catalogs = import.meta.glob<Record<string, string>>("./locales/*.json", { import: "default" });

/** Loads the catalog of the language that the person or the browser prefers. Without one, texts stay English. */
export async function startLanguage(): Promise<void> {
  await applyLanguage(storedLanguage() ?? preferredLanguage(browserLocales())).catch(() =>
    applyLanguage(SOURCE_LANGUAGE),
  );
}

/** Stores the choice and shows the console in it. `undefined` follows the browser. */
export async function chooseLanguage(id: string | undefined): Promise<void> {
  await applyLanguage(id ?? preferredLanguage(browserLocales()));
  storeLanguage(id);
}

/** The language of the console; a component that uses it renders when it changes. */
export function useLanguage(): string {
  return useSyncExternalStore(subscribe, currentLanguage);
}

async function applyLanguage(id: string): Promise<void> {
  await loadCatalog(id);
  setCurrentLanguage(id);
  document.documentElement.lang = id;
  await i18n.changeLanguage(id);
}

async function loadCatalog(id: string): Promise<void> {
  if (id === PSEUDO_LANGUAGE) {
    const { toPseudo } = await import("./pseudo.ts");
    i18n.use({ type: "postProcessor", name: "pseudo", process: toPseudo });
    i18n.options.postProcess = "pseudo";
    return;
  }
  i18n.options.postProcess = false;
  const load = catalogs[`./locales/${id}.json`];
  if (id === SOURCE_LANGUAGE || load === undefined || i18n.hasResourceBundle(id, NAMESPACE)) return;
  i18n.addResourceBundle(id, NAMESPACE, await load());
}

function subscribe(onChange: () => void): () => void {
  i18n.on("languageChanged", onChange);
  return () => i18n.off("languageChanged", onChange);
}
