import { invalidRequest } from "../../kernel/faults.ts";

/** Throws a Fault if the texts have more than `maxCharacters` UTF-16 units together. */
export function checkInputLength(texts: readonly string[], maxCharacters: number): void {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  if (characters <= maxCharacters) return;
  const message = `\`input\` has ${characters} characters; the limit is ${maxCharacters}. Send it in several requests.`;
  throw invalidRequest(message, "input", "string_above_max_length");
}
