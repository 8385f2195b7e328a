/** How a project's words are spoken: a text is read with what stands for them. */

import type { Caller } from "../contracts/caller.ts";
import type { RewrittenPart, SpeechRequest } from "../contracts/speech-model.ts";
import { invalidRequest } from "../kernel/faults.ts";

export interface Pronunciation {
  text: string;
  spoken: string;
}

export interface PronunciationOptions {
  /** Empty: texts are read as they are. */
  pronunciationsOf?: ((caller: Caller) => readonly Pronunciation[]) | undefined;
}

/** No local model may be configured to read more at once; megabytes would hold up other requests for seconds. */
const MAX_CHARACTERS = 1_000_000;
/** For word times: each replaced word takes microseconds to note, hash and send to the model's process. */
const MAX_REWRITTEN = 30_000;

/** Patterns of lists that are in use: a list has hundreds of words, and many requests. */
const compiled = new WeakMap<readonly Pronunciation[], Spoken>();

interface Spoken {
  /** By their texts in lower case. */
  words: ReadonlyMap<string, string>;
  pattern: RegExp;
}

/** Returns the request with its text as it is spoken, and, for word times, with what was written. */
export function withPronunciations<Request extends Pick<SpeechRequest, "text" | "wordTimes">>(
  request: Request,
  words: readonly Pronunciation[],
): Request & Pick<SpeechRequest, "rewritten"> {
  if (request.wordTimes !== true) return { ...request, text: pronounce(request.text, words) };
  const rewritten: RewrittenPart[] = [];
  return { ...request, text: pronounce(request.text, words, rewritten), rewritten };
}

/**
 * Returns the text with what stands for the words in it; they count in any case, and only as whole words. `rewritten`
 * gets the parts that were replaced. Throws a Fault for a text that is too long, as it is written or spoken, or has too
 * many of them.
 */
export function pronounce(text: string, words: readonly Pronunciation[], rewritten?: RewrittenPart[]): string {
  if (words.length === 0) return text;
  const reading = compiled.get(words) ?? compile(words);
  compiled.set(words, reading);
  let { length } = text;
  checkLength(length);
  return text.replace(reading.pattern, (word, at: number) => {
    const spoken = reading.words.get(word.toLowerCase()) ?? word;
    if (spoken !== word) note(rewritten, { start: at + length - text.length, length: spoken.length, written: word });
    length += spoken.length - word.length;
    checkLength(length);
    return spoken;
  });
}

function note(rewritten: RewrittenPart[] | undefined, part: RewrittenPart): void {
  if (rewritten === undefined || rewritten.push(part) <= MAX_REWRITTEN) return;
  const message = `The project's pronunciations replace more than ${MAX_REWRITTEN} words of the input, the limit with the times of words. Split it into several requests, or leave out 'timestamp_granularities'.`;
  throw invalidRequest(message, "input", "string_above_max_length");
}

function checkLength(characters: number): void {
  if (characters <= MAX_CHARACTERS) return;
  const message = `The input has more than ${MAX_CHARACTERS} characters with the project's pronunciations, the limit. Split it into several requests.`;
  throw invalidRequest(message, "input", "string_above_max_length");
}

function compile(entries: readonly Pronunciation[]): Spoken {
  const words = new Map(entries.map(({ text, spoken }) => [text.toLowerCase(), spoken]));
  // As they are written, since `i` finds no İ in its own lower case. The longest first: "New York" before "New".
  const texts = entries
    .map(({ text }) => text)
    .sort((one, other) => other.length - one.length)
    .map(escapePattern);
  // Tags of SSML stay as they are.
  const source = `<[^<>]*>|(?<![\\p{L}\\p{M}\\p{N}])(?:${texts.join("|")})(?![\\p{L}\\p{M}\\p{N}])`;
  return { words, pattern: new RegExp(source, "giu") };
}

/** A pattern with the flag `u` takes no other escapes, such as that of a hyphen. */
function escapePattern(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
}
