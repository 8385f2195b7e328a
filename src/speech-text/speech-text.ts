import { invalidRequest } from "../faults.ts";
import { cleanText, isSpeakable } from "./clean-text.ts";
import { splitSentences } from "./split-sentences.ts";

export interface SpeechTextLimits {
  /** Characters that a request may have. */
  mostInputCharacters: number;
  /** Characters that are synthesised at once. */
  mostPieceCharacters: number;
}

/** The pieces to be spoken, in order. Throws a Fault for a text that is too long or has nothing in it to say. */
export function toSpokenPieces(text: string, { mostInputCharacters, mostPieceCharacters }: SpeechTextLimits): string[] {
  const length = [...text].length;
  if (length > mostInputCharacters) {
    throw invalidRequest(
      `'input' is too long: at most ${mostInputCharacters} characters, not ${length}.`,
      "input",
      "string_above_max_length",
    );
  }
  const pieces = splitSentences(cleanText(text), mostPieceCharacters).filter(isSpeakable);
  if (pieces.length === 0) {
    throw invalidRequest("'input' has nothing that can be spoken: no letters and no digits.", "input", "invalid_value");
  }
  return pieces;
}
