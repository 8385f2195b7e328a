/** Stress marks in phonemes: each stands right before the vowel that it stresses. */

export const PRIMARY = "ˈ";
const SECONDARY = "ˌ";
export const VOWELS = "AIOQWYaiuæɑɒɔəɛɜɪʊʌᵻ";

const FIRST_VOWEL = new RegExp(`[${VOWELS}]`, "u");

/** Primary stress becomes secondary, secondary none. */
export function weaken(phonemes: string): string {
  return phonemes.replaceAll(SECONDARY, "").replaceAll(PRIMARY, SECONDARY);
}

/** A word without any stress gets a secondary one. */
export function atLeastSecondary(phonemes: string): string {
  return /[ˈˌ]/.test(phonemes) ? phonemes : phonemes.replace(FIRST_VOWEL, `${SECONDARY}$&`);
}

/** A word without primary stress gets one. */
export function atLeastPrimary(phonemes: string): string {
  if (phonemes.includes(PRIMARY)) return phonemes;
  if (phonemes.includes(SECONDARY)) return phonemes.replaceAll(SECONDARY, PRIMARY);
  return phonemes.replace(FIRST_VOWEL, `${PRIMARY}$&`);
}

/** Letters one by one, the last of them stressed most. */
export function stressLastLetter(letters: readonly string[]): string {
  const all = letters.join("").replaceAll(PRIMARY, SECONDARY);
  const last = all.lastIndexOf(SECONDARY);
  return last < 0 ? all : `${all.slice(0, last)}${PRIMARY}${all.slice(last + 1)}`;
}
