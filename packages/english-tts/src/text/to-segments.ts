import { TtsError } from "../tts-error.ts";
import { cleanText, cleanTraced, isSpeakable } from "./clean-text.ts";
import { isSsml, parseSsml, type SsmlPart } from "./parse-ssml.ts";
import { markRewritten, piecesOf, type RewrittenPart, withoutMarks } from "./rewritten-text.ts";
import { splitSentences } from "./split-sentences.ts";
import { TracedText } from "./traced-text.ts";

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

/** Like `Segment`, with what was written for the characters of a sentence (see `TracedText`). */
export type TracedSegment = { sentence: string; written: readonly string[] } | { pauseSeconds: number };

/**
 * Cleans a text, which may be SSML, and splits it into sentences. Throws a TtsError for a text that is too long or has
 * no letter or digit, and for SSML that cannot be spoken.
 */
export function toSegments(text: string, limits: TextLimits): Segment[] {
  checkLength(text, limits);
  const { maxSentenceCharacters, language = "en" } = limits;
  const segments = toParts(text, language).flatMap((part): Segment[] =>
    "pauseSeconds" in part
      ? [part]
      : splitSentences(cleanText(part.text, language), maxSentenceCharacters, language)
          .filter(isSpeakable)
          .map((sentence) => ({ sentence })),
  );
  return speakable(segments);
}

/** Like `toSegments`. `rewritten`: parts of the text that stand for what was written, in order. */
export function toTracedSegments(
  text: string,
  limits: TextLimits,
  rewritten: readonly RewrittenPart[] = [],
): TracedSegment[] {
  checkLength(text, limits);
  const { maxSentenceCharacters, language = "en" } = limits;
  const words = rewritten.map(({ written }) => written).values();
  const segments = toParts(markRewritten(text, rewritten, isSsml(text)), language).flatMap((part): TracedSegment[] => {
    if ("pauseSeconds" in part) return [part];
    const cleaned = cleanTraced(TracedText.of(part.pieces.flatMap((piece) => traced(piece, words))), language);
    let end = 0;
    return splitSentences(cleaned.text, maxSentenceCharacters, language).flatMap((sentence) => {
      const start = cleaned.text.indexOf(sentence, end);
      end = start + sentence.length;
      return isSpeakable(sentence) ? [{ sentence, written: cleaned.written.slice(start, end) }] : [];
    });
  });
  return speakable(segments);
}

function checkLength(text: string, { maxInputCharacters }: TextLimits): void {
  const length = [...text].length;
  if (length <= maxInputCharacters) return;
  const message = `The text is too long: at most ${maxInputCharacters} characters, not ${length}.`;
  throw new TtsError("input_too_long", message);
}

function speakable<Each extends Segment>(segments: Each[]): Each[] {
  if (segments.some((segment) => "sentence" in segment)) return segments;
  throw new TtsError("nothing_to_speak", "The text has nothing that can be spoken: no letters and no digits.");
}

type SsmlText = Extract<SsmlPart, { text: string }>;

function traced({ text, written }: SsmlText, words: Iterator<string>) {
  if (written === undefined) return piecesOf(text, words);
  const inner = piecesOf(written, words).map((piece) => piece.written ?? piece.text);
  return [{ text: withoutMarks(text), written: inner.join("") }];
}

/** Joins the text between two pauses, so that tags inside a sentence do not cut it. */
function toParts(text: string, language: string): ({ text: string; pieces: SsmlText[] } | { pauseSeconds: number })[] {
  if (!isSsml(text)) return [{ text, pieces: [{ text }] }];
  const parts: ({ text: string; pieces: SsmlText[] } | { pauseSeconds: number })[] = [];
  for (const part of parseSsml(text, language)) {
    const last = parts.at(-1);
    if ("pauseSeconds" in part) parts.push({ ...part });
    else if (last !== undefined && "text" in last) {
      last.text += part.text;
      last.pieces.push(part);
    } else parts.push({ text: part.text, pieces: [part] });
  }
  return parts;
}
