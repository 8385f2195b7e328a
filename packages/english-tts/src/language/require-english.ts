import { TtsError } from "../tts-error.ts";

const LETTER = /\p{L}/gu;
const LATIN_LETTER = /\p{Script=Latin}/gu;
/** Scripts that an error names; others are "another script". */
const SCRIPTS: Readonly<Record<string, RegExp>> = {
  Arabic: /\p{Script=Arabic}/gu,
  Chinese: /\p{Script=Han}/gu,
  Cyrillic: /\p{Script=Cyrillic}/gu,
  Devanagari: /\p{Script=Devanagari}/gu,
  Greek: /\p{Script=Greek}/gu,
  Hebrew: /\p{Script=Hebrew}/gu,
  Japanese: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu,
  Korean: /\p{Script=Hangul}/gu,
  Thai: /\p{Script=Thai}/gu,
};
/** A single `π` or `α` is a symbol. */
const MIN_FOREIGN_LETTERS = 3;

/** Enough to be certain, so that the check of a very long text costs no more. */
const MAX_CHECKED_CHARACTERS = 20_000;
/** Different words: shorter texts may be loanwords or lyrics, "C'est la vie" or "la la la, da da dum". */
const MIN_WORDS = 7;
const MIN_FUNCTION_WORDS = 3;
/** Share of function words in the text; running text has about 0.4, a list of names hardly any. */
const MIN_FUNCTION_WORD_SHARE = 0.2;
/** English sentences that quote another language still have most function words in English. */
const MAX_ENGLISH_SHARE = 1 / 3;

interface FunctionWords {
  english: ReadonlySet<string>;
  byLanguage: ReadonlyMap<string, ReadonlySet<string>>;
}

let functionWords: Promise<FunctionWords> | undefined;

/**
 * Throws a TtsError `unsupported_language` for a text that is mostly in another script or certainly in another language.
 * Names, loanwords, quotations and short texts pass: a wrong refusal is worse than an accent.
 */
export async function requireEnglish(text: string): Promise<void> {
  const checked = text.slice(0, MAX_CHECKED_CHARACTERS);
  const script = foreignScript(checked);
  if (script !== undefined) throw unsupported(`The text is mostly in ${script}.`);
  functionWords ??= loadFunctionWords();
  const language = foreignLanguage(checked, await functionWords);
  if (language !== undefined) throw unsupported(`The text appears to be ${language}.`);
}

function unsupported(finding: string): TtsError {
  return new TtsError("unsupported_language", `${finding} The languages of this voice are: English (en).`);
}

function foreignScript(text: string): string | undefined {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const letters = count(LETTER);
  const foreign = letters - count(LATIN_LETTER);
  if (foreign < MIN_FOREIGN_LETTERS || foreign * 2 <= letters) return undefined;
  const counts = Object.entries(SCRIPTS).map(([name, pattern]) => ({ name, letters: count(pattern) }));
  const most = counts.reduce((best, each) => (each.letters > best.letters ? each : best));
  return most.letters === 0 ? "another script than Latin" : `${most.name} script`;
}

/**
 * Counts function words (articles, pronouns, prepositions), which names and loanwords lack. Only words in lower case
 * count, since those of names are capitalized: "Le Monde", "Los Angeles".
 */
function foreignLanguage(text: string, { english, byLanguage }: FunctionWords): string | undefined {
  const words = (text.match(/[\p{L}\p{M}]+/gu) ?? []).filter((word) => word.length > 1);
  if (new Set(words.map((word) => word.toLowerCase())).size < MIN_WORDS) return undefined;
  const lowerCase = words.filter((word) => word === word.toLowerCase());
  const englishCount = words.filter((word) => english.has(word.toLowerCase())).length;
  const found = [...byLanguage].map(([language, foreign]) => ({
    language,
    words: lowerCase.filter((word) => foreign.has(word)),
  }));
  const best = found.reduce((most, each) => (each.words.length > most.words.length ? each : most));
  const isCertain =
    best.words.length >= MIN_FUNCTION_WORDS &&
    new Set(best.words).size > 1 &&
    best.words.length >= words.length * MIN_FUNCTION_WORD_SHARE &&
    englishCount <= best.words.length * MAX_ENGLISH_SHARE;
  return isCertain ? best.language : undefined;
}

/** Loaded with the first text: the lists take 7 MB. */
async function loadFunctionWords(): Promise<FunctionWords> {
  const lists = await import("stopword");
  const english = new Set(lists.eng);
  const foreign = Object.entries({
    German: lists.deu,
    French: lists.fra,
    Spanish: lists.spa,
    Italian: lists.ita,
    Portuguese: lists.por,
    Dutch: lists.nld,
    Polish: lists.pol,
    Swedish: lists.swe,
    Turkish: lists.tur,
    Danish: lists.dan,
    Norwegian: lists.nob,
    Finnish: lists.fin,
    Czech: lists.ces,
    Hungarian: lists.hun,
    Romanian: lists.ron,
    Indonesian: lists.ind,
    Croatian: lists.hrv,
    Catalan: lists.cat,
  });
  const withoutEnglish = (words: readonly string[]) => new Set(words.filter((word) => !english.has(word)));
  return { english, byLanguage: new Map(foreign.map(([name, words]) => [name, withoutEnglish(words)])) };
}
