import type { Phonemizer } from "./phonemizer.ts";

/** Languages (ISO 639-1) and how their phonemizers are loaded, with the first sentence. */
const PHONEMIZERS = {
  es: async () => (await import("./spanish/spanish.ts")).openSpanish(),
  fr: async () => (await import("./french/french.ts")).openFrench(),
  it: async () => (await import("./italian/italian.ts")).openItalian(),
  pt: async () => (await import("./portuguese/portuguese.ts")).openPortuguese(),
} satisfies Readonly<Record<string, () => Promise<Phonemizer>>>;

export type PhonemizedLanguage = keyof typeof PHONEMIZERS;

/** Opens the phonemizer of a language. */
export function openPhonemizer(language: PhonemizedLanguage): Promise<Phonemizer> {
  return PHONEMIZERS[language]();
}
