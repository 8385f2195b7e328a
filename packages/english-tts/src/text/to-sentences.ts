import { TtsError } from "../tts-error.ts";
import { cleanText, isSpeakable } from "./clean-text.ts";
import { splitSentences } from "./split-sentences.ts";

export interface TextLimits {
  /** Characters that the text may have, counted as code points. */
  maxInputCharacters: number;
  /** Characters that are synthesized at once; a longer sentence is cut. */
  maxSentenceCharacters: number;
}

/** Cleans a text and splits it into sentences. Throws a TtsError for a text that is too long or has no letter or digit. */
export function toSentences(text: string, { maxInputCharacters, maxSentenceCharacters }: TextLimits): string[] {
  const length = [...text].length;
  if (length > maxInputCharacters) {
    throw new TtsError(
      "input_too_long",
      `The text is too long: at most ${maxInputCharacters} characters, not ${length}.`,
    );
  }
  const sentences = splitSentences(cleanText(text), maxSentenceCharacters).filter(isSpeakable);
  if (sentences.length === 0) {
    throw new TtsError("nothing_to_speak", "The text has nothing that can be spoken: no letters and no digits.");
  }
  return sentences;
}
