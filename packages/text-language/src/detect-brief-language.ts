/** Languages of texts that are too short, or in too rare a language, for a count of function words. */

import type { DetectedLanguage } from "./detect-language.ts";
import { functionWords, wordsOf } from "./function-words.ts";

/** Two words may be a greeting that English has borrowed, or a name. */
const MIN_WORDS = 3;
/** Names and titles are capitalized, texts mostly not. */
const MIN_LOWER_CASE_SHARE = 0.5;
/** A word such as `no` is English and Spanish. */
const MAX_ENGLISH_SHARE = 0.25;
/** Minimum of ELD's scores, which are 0.7 to 0.9 for texts of three words in their language. */
const MIN_SCORE = 0.72;
const MIN_LEAD = 0.12;
/** Bantu languages, which ELD does not know, end their words in vowels: Swahili, Zulu, Shona. */
const OPEN_WORD = /[aiou]$/i;
const MAX_OPEN_ENGLISH_SCORE = 0.5;
/** Lyrics repeat syllables: "la la la, da da dum". */
const MIN_DIFFERENT_SHARE = 0.5;
const MAX_CHECKED_CHARACTERS = 2000;

/** Phrases that English has borrowed. */
const BORROWED =
  /\b(?:c['’]est la vie|que sera,? sera|je ne sais quoi|hasta la vista|la vie en rose|hakuna matata|veni,? vidi,? vici|mi casa es su casa)\b/giu;

/**
 * Returns the language of a text in the Latin script that is certainly not English, with at least three words; undefined
 * for names, single foreign words among English ones and phrases that English has borrowed.
 */
export async function detectBriefLanguage(text: string): Promise<DetectedLanguage | undefined> {
  const checked = text.slice(0, MAX_CHECKED_CHARACTERS).replace(BORROWED, " ");
  const words = wordsOf(checked);
  if (!isSentence(words)) return undefined;
  const { english } = await functionWords();
  const englishCount = words.filter((word) => english.has(word.toLowerCase())).length;
  if (englishCount > 1 || englishCount > words.length * MAX_ENGLISH_SHARE) return undefined;
  const eld = await loadEld();
  const { language, getScores } = eld.detect(checked);
  const scores = getScores();
  const score = scores[language] ?? 0;
  if (language === "en") return undefined;
  if (score < MIN_SCORE || score - (scores.en ?? 0) < MIN_LEAD) {
    const isOpen = words.every((word) => OPEN_WORD.test(word)) && (scores.en ?? 0) < MAX_OPEN_ENGLISH_SCORE;
    return isOpen && englishCount === 0 ? { name: "a language other than English", codes: [] } : undefined;
  }
  const name = new Intl.DisplayNames("en", { type: "language", fallback: "none" }).of(language);
  return { name: name ?? language, codes: [language] };
}

/** True for several different words, most of which are no names. */
function isSentence(words: readonly string[]): boolean {
  const different = new Set(words).size;
  if (different < MIN_WORDS || different < words.length * MIN_DIFFERENT_SHARE) return false;
  const lowerCase = words.filter((word) => word === word.toLowerCase());
  return lowerCase.length >= words.length * MIN_LOWER_CASE_SHARE;
}

/** Returns the likeliest language (ISO 639-1) of a text by its groups of letters; an empty string without letters. */
export async function likeliestLanguage(text: string): Promise<string> {
  const eld = await loadEld();
  return eld.detect(text.slice(0, MAX_CHECKED_CHARACTERS)).language;
}

/** Loads the n-grams with the first text that needs them: they take some 80 MB. */
async function loadEld() {
  return (await import("eld/extrasmall")).eld;
}
