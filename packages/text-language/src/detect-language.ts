import { type FunctionWords, functionWords, LATIN, wordsOf } from "./function-words.ts";

const LETTER = /\p{L}/gu;
const LATIN_LETTER = /\p{Script=Latin}/gu;
const MARKED_LETTER = /[\u00df-\u024f]/u;

interface Script {
  name: string;
  letters: RegExp;
  /** ISO 639-1 codes of the languages that are written in it. */
  codes: readonly string[];
}

/** Scripts that have a name; others are "another script". */
const SCRIPTS: readonly Script[] = [
  { name: "Arabic", letters: /\p{Script=Arabic}/gu, codes: ["ar", "fa", "ps", "ug", "ur"] },
  { name: "Chinese", letters: /\p{Script=Han}/gu, codes: ["ja", "yue", "zh"] },
  {
    name: "Cyrillic",
    letters: /\p{Script=Cyrillic}/gu,
    codes: ["be", "bg", "kk", "ky", "mk", "mn", "ru", "sr", "tg", "uk"],
  },
  { name: "Devanagari", letters: /\p{Script=Devanagari}/gu, codes: ["hi", "mr", "ne"] },
  { name: "Greek", letters: /\p{Script=Greek}/gu, codes: ["el"] },
  { name: "Hebrew", letters: /\p{Script=Hebrew}/gu, codes: ["he", "yi"] },
  { name: "Japanese", letters: /[\p{Script=Hiragana}\p{Script=Katakana}]/gu, codes: ["ja"] },
  { name: "Korean", letters: /\p{Script=Hangul}/gu, codes: ["ko"] },
  { name: "Thai", letters: /\p{Script=Thai}/gu, codes: ["th"] },
];
/** A single `π` or `α` is a symbol. */
const MIN_FOREIGN_LETTERS = 3;
/** Two words next to each other, or, in scripts without spaces, six characters. */
const FOREIGN_PHRASE =
  /(?:(?!\p{Script=Latin})\p{L}){2,}[^\p{L}]+(?:(?!\p{Script=Latin})\p{L}){2,}|[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{6,}/u;
const MIN_PHRASE_SHARE = 0.2;

/** Enough to be certain, so that the check of a very long text costs no more. */
const MAX_CHECKED_CHARACTERS = 20_000;
/** Different words: shorter texts may be loanwords or lyrics, "C'est la vie" or "la la la, da da dum". */
const MIN_WORDS = 7;
const MIN_FUNCTION_WORDS = 3;
/** Share of function words in the text; running text has about 0.4, a list of names hardly any. */
const MIN_FUNCTION_WORD_SHARE = 0.2;
/** English sentences that quote another language still have most function words in English. */
const MAX_ENGLISH_SHARE = 1 / 3;

/** Languages that share most function words: a text in one may be detected as another. ISO 639-1 and 639-3. */
const RELATED: readonly (readonly string[])[] = [
  ["da", "nb", "nn", "no", "sv"],
  ["bs", "cnr", "hr", "sl", "sr"],
  ["ca", "es", "gl", "pt"],
  ["cs", "sk"],
  ["id", "ms"],
];

export interface DetectedLanguage {
  /** "German", or "Cyrillic script". */
  name: string;
  /** ISO 639-1 codes of the languages that the text may be in; empty for a rare script. */
  codes: readonly string[];
}

/** Returns undefined where the language is not certain: for names, loanwords, quotations and short texts. */
export async function detectLanguage(text: string): Promise<DetectedLanguage | undefined> {
  const checked = text.slice(0, MAX_CHECKED_CHARACTERS);
  const script = otherScript(checked);
  if (script !== undefined) return script;
  return latinLanguage(checked, await functionWords());
}

/**
 * Whether a text is more probably in another language than English, also where it is too short for `detectLanguage`: by
 * its script, more function words of another language than of English, or letters with marks where it has neither.
 */
export async function mayBeForeign(text: string): Promise<boolean> {
  const checked = text.slice(0, MAX_CHECKED_CHARACTERS);
  if (otherScript(checked) !== undefined) return true;
  const { commonEnglish, others } = await functionWords();
  const words = wordsOf(checked.toLowerCase());
  const countIn = (known: ReadonlySet<string>) => words.filter((word) => known.has(word)).length;
  const englishCount = countIn(commonEnglish);
  const most = Math.max(...others.map(({ all }) => countIn(all)));
  return most > englishCount || (most === englishCount && MARKED_LETTER.test(checked));
}

/**
 * Whether a text in which `found` was detected may be in one of these languages (ISO 639-1): also where the detection
 * cannot tell, because two languages are related or it does not know theirs.
 */
export function mayBeIn(found: DetectedLanguage, languages: readonly string[]): boolean {
  const { codes } = found;
  const isDetectable = (code: string) => isOfOtherScript(code) || LATIN.some(([, known]) => known === code);
  if (codes.length === 0) return !languages.every(isDetectable);
  const isLatin = !codes.some(isOfOtherScript);
  return languages.some((code) => {
    if (codes.includes(code)) return true;
    if (!isDetectable(code)) return isLatin;
    return RELATED.some((group) => group.includes(code) && codes.some((each) => group.includes(each)));
  });
}

function isOfOtherScript(code: string): boolean {
  return SCRIPTS.some(({ codes }) => codes.includes(code));
}

/** Returns the script of a phrase of another script than Latin, with a fifth of the letters, which no single word is. */
export function foreignPhrase(text: string): DetectedLanguage | undefined {
  const checked = text.slice(0, MAX_CHECKED_CHARACTERS);
  return FOREIGN_PHRASE.test(checked) ? otherScript(checked, MIN_PHRASE_SHARE) : undefined;
}

function otherScript(text: string, minShare = 0.5): DetectedLanguage | undefined {
  const count = (pattern: RegExp) => text.match(pattern)?.length ?? 0;
  const letters = count(LETTER);
  const foreign = letters - count(LATIN_LETTER);
  if (foreign < MIN_FOREIGN_LETTERS || foreign <= letters * minShare) return undefined;
  const counts = SCRIPTS.map((script) => ({ ...script, letters: count(script.letters) }));
  const most = counts.reduce((best, each) => (each.letters > best.letters ? each : best));
  if (most.letters === 0) return { name: "another script than Latin", codes: [] };
  return { name: `${most.name} script`, codes: most.codes };
}

/**
 * Counts function words (articles, pronouns, prepositions), which names and loanwords lack. In other languages than
 * English only words in lower case count, since those of names are capitalized: "Le Monde", "Los Angeles".
 */
function latinLanguage(text: string, { english, others }: FunctionWords): DetectedLanguage | undefined {
  const words = wordsOf(text);
  if (new Set(words.map((word) => word.toLowerCase())).size < MIN_WORDS) return undefined;
  const lowerCase = words.filter((word) => word === word.toLowerCase());
  const englishWords = words.map((word) => word.toLowerCase()).filter((word) => english.has(word));
  const matches = others.map((language) => ({
    ...language,
    found: lowerCase.filter((word) => language.words.has(word)),
  }));
  const best = matches.reduce((most, each) => (each.found.length > most.found.length ? each : most));
  const isCertain = (functions: readonly string[]) =>
    functions.length >= MIN_FUNCTION_WORDS &&
    new Set(functions).size > 1 &&
    functions.length >= words.length * MIN_FUNCTION_WORD_SHARE;
  if (isCertain(best.found) && englishWords.length <= best.found.length * MAX_ENGLISH_SHARE) {
    return { name: best.name, codes: [best.code] };
  }
  const isEnglish = isCertain(englishWords) && best.found.length <= englishWords.length * MAX_ENGLISH_SHARE;
  return isEnglish ? { name: "English", codes: ["en"] } : undefined;
}
