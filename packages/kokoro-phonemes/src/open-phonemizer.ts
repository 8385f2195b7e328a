import type { Phonemizer } from "./phonemizer.ts";

/** Languages (ISO 639-1) and how their phonemizers are loaded, with the first sentence. */
const PHONEMIZERS = {
  es: async () => (await import("./spanish/spanish.ts")).openSpanish(),
  fr: async () => (await import("./french/french.ts")).openFrench(),
  hi: async () => (await import("./hindi/hindi.ts")).openHindi(),
  it: async () => (await import("./italian/italian.ts")).openItalian(),
  pt: async () => (await import("./portuguese/portuguese.ts")).openPortuguese(),
  zh: async () => (await import("./mandarin/mandarin.ts")).openMandarin(),
} satisfies Readonly<Record<string, () => Promise<Phonemizer>>>;

export type PhonemizedLanguage = keyof typeof PHONEMIZERS;

/** Opens the phonemizer of a language. */
export function openPhonemizer(language: PhonemizedLanguage): Promise<Phonemizer> {
  return PHONEMIZERS[language]();
}
