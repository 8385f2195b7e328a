import { firstSentences } from "../../speech/first-sentences.ts";

/** A model takes no more at once. */
const MAX_CHARACTERS = 4000;

/** What is said of an answer: without code, formulas, marks and addresses. */
export function spokenText(markdown: string): string {
  const text = markdown
    .replace(/```[\s\S]*?(```|$)/g, "")
    .replace(/\$\$[\s\S]*?\$\$/g, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/https?:\/\/\S+/g, "")
    .replace(/^\s*\|?[-:| ]+\|[-:| ]*$/gm, "")
    .replace(/^\s*(#{1,6}|[-*+]|\d+\.|>)\s+/gm, "")
    .replace(/[*_`~|]/g, "")
    .replace(/\s*\n\s*/g, "\n")
    .trim();
  return firstSentences(text, MAX_CHARACTERS);
}
