/** Stress marks in phonemes, each directly before the stressed vowel. */

export const PRIMARY = "ˈ";
const SECONDARY = "ˌ";
export const VOWELS = "AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ";

const FIRST_VOWEL = new RegExp(`[${VOWELS}]`, "u");

/** Lowers primary stress to secondary and removes secondary stress. */
export function weaken(phonemes: string): string {
  return phonemes.replaceAll(SECONDARY, "").replaceAll(PRIMARY, SECONDARY);
}

/** Adds secondary stress to an unstressed word. */
export function atLeastSecondary(phonemes: string): string {
  return /[ˈˌ]/.test(phonemes) ? phonemes : phonemes.replace(FIRST_VOWEL, `${SECONDARY}$&`);
}

/** Adds primary stress to a word without it. */
export function atLeastPrimary(phonemes: string): string {
  if (phonemes.includes(PRIMARY)) return phonemes;
  if (phonemes.includes(SECONDARY)) return phonemes.replaceAll(SECONDARY, PRIMARY);
  return phonemes.replace(FIRST_VOWEL, `${PRIMARY}$&`);
}

/** Joins the names of letters, with primary stress on the last. */
export function stressLastLetter(letters: readonly string[]): string {
  const all = letters.join("").replaceAll(PRIMARY, SECONDARY);
  const last = all.lastIndexOf(SECONDARY);
  return last < 0 ? all : `${all.slice(0, last)}${PRIMARY}${all.slice(last + 1)}`;
}
