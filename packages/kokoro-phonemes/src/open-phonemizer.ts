import type { Phonemizer } from "./phonemizer.ts";

/** Path of a file of IPADIC, by its name there; only Japanese has files. */
type PathOf = (name: string) => string;

/** Languages (ISO 639-1) and how their phonemizers are loaded, with the first sentence. */
const PHONEMIZERS = {
  es: async () => (await import("./spanish/spanish.ts")).openSpanish(),
  fr: async () => (await import("./french/french.ts")).openFrench(),
  hi: async () => (await import("./hindi/hindi.ts")).openHindi(),
  it: async () => (await import("./italian/italian.ts")).openItalian(),
  ja: async (path) => (await import("./japanese/japanese.ts")).openJapanese(path),
  pt: async () => (await import("./portuguese/portuguese.ts")).openPortuguese(),
  zh: async () => (await import("./mandarin/mandarin.ts")).openMandarin(),
} satisfies Readonly<Record<string, (path: PathOf) => Promise<Phonemizer>>>;

export type PhonemizedLanguage = keyof typeof PHONEMIZERS;

/** Opens the phonemizer of a language. `path` is called for Japanese. */
export function openPhonemizer(language: PhonemizedLanguage, path: PathOf = (name) => name): Promise<Phonemizer> {
  return PHONEMIZERS[language](path);
}
