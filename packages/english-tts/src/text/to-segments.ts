import { TtsError } from "../tts-error.ts";
import { cleanText, isSpeakable } from "./clean-text.ts";
import { isSsml, parseSsml } from "./parse-ssml.ts";
import { splitSentences } from "./split-sentences.ts";

export interface TextLimits {
  /** Characters that the text may have, counted as code points. */
  maxInputCharacters: number;
  /** Characters that are synthesized at once; a longer sentence is cut. */
  maxSentenceCharacters: number;
  /** ISO 639-1. Default: en. */
  language?: string;
}

/** What is synthesized at once, or a pause that SSML asks for. */
export type Segment = { sentence: string } | { pauseSeconds: number };

/**
 * Cleans a text, which may be SSML, and splits it into sentences. Throws a TtsError for a text that is too long or has
 * no letter or digit, and for SSML that cannot be spoken.
 */
export function toSegments(text: string, limits: TextLimits): Segment[] {
  const { maxInputCharacters, maxSentenceCharacters, language = "en" } = limits;
  const length = [...text].length;
  if (length > maxInputCharacters) {
    throw new TtsError(
      "input_too_long",
      `The text is too long: at most ${maxInputCharacters} characters, not ${length}.`,
    );
  }
  const segments = toParts(text, language).flatMap((part): Segment[] =>
    "pauseSeconds" in part
      ? [part]
      : splitSentences(cleanText(part.text, language), maxSentenceCharacters, language)
          .filter(isSpeakable)
          .map((sentence) => ({ sentence })),
  );
  if (!segments.some((segment) => "sentence" in segment)) {
    throw new TtsError("nothing_to_speak", "The text has nothing that can be spoken: no letters and no digits.");
  }
  return segments;
}

/** Joins the text between two pauses, so that tags inside a sentence do not cut it. */
function toParts(text: string, language: string): ({ text: string } | { pauseSeconds: number })[] {
  if (!isSsml(text)) return [{ text }];
  const parts: ({ text: string } | { pauseSeconds: number })[] = [];
  for (const part of parseSsml(text, language)) {
    const last = parts.at(-1);
    if ("text" in part && last !== undefined && "text" in last) last.text += part.text;
    else parts.push({ ...part });
  }
  return parts;
}
