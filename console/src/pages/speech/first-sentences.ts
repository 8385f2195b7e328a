/** Characters that every voice says; a comparison of long texts would take minutes. */
const MAX_CHARACTERS = 240;

/** The beginning of a text, in complete sentences where they are short enough. */
export function firstSentences(text: string, max = MAX_CHARACTERS): string {
  const trimmed = text.trim();
  if (trimmed.length <= max) return trimmed;
  const part = trimmed.slice(0, max);
  const end = Math.max(part.lastIndexOf(". "), part.lastIndexOf("? "), part.lastIndexOf("! "));
  return end > 0 ? part.slice(0, end + 1) : part.slice(0, Math.max(part.lastIndexOf(" "), 1));
}
