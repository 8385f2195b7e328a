/** Languages in the Latin script that are detected: name, ISO 639-1 code, and name of the list of function words. */
export const LATIN = [
  ["English", "en", "eng"],
  ["German", "de", "deu"],
  ["French", "fr", "fra"],
  ["Spanish", "es", "spa"],
  ["Italian", "it", "ita"],
  ["Portuguese", "pt", "por"],
  ["Dutch", "nl", "nld"],
  ["Polish", "pl", "pol"],
  ["Swedish", "sv", "swe"],
  ["Turkish", "tr", "tur"],
  ["Danish", "da", "dan"],
  ["Norwegian", "no", "nob"],
  ["Finnish", "fi", "fin"],
  ["Czech", "cs", "ces"],
  ["Hungarian", "hu", "hun"],
  ["Romanian", "ro", "ron"],
  ["Indonesian", "id", "ind"],
  ["Croatian", "hr", "hrv"],
  ["Catalan", "ca", "cat"],
  ["Swahili", "sw", "swa"],
] as const;

interface LanguageWords {
  name: string;
  code: string;
  /** Function words that are not English as well. */
  words: ReadonlySet<string>;
}

export interface FunctionWords {
  english: ReadonlySet<string>;
  others: readonly LanguageWords[];
}

let loading: Promise<FunctionWords> | undefined;

/** Loads the lists with the first text: they take 7 MB. */
export function functionWords(): Promise<FunctionWords> {
  loading ??= load();
  return loading;
}

async function load(): Promise<FunctionWords> {
  const lists = await import("stopword");
  const english = new Set(lists.eng);
  const others = LATIN.filter(([, code]) => code !== "en").map(([name, code, list]) => {
    return { name, code, words: new Set(lists[list].filter((word) => !english.has(word))) };
  });
  return { english, others };
}

export function wordsOf(text: string): string[] {
  return (text.match(/[\p{L}\p{M}]+/gu) ?? []).filter((word) => word.length > 1);
}
