/** Estimates the completion tokens of a stream: one per frame, or more where frames carry more text than a token. */

import { TEXT_KEYS } from "./frame-template.ts";

const BYTES_PER_TOKEN = 4;
/** Mistral sends content as parts. */
const PART_KEYS: ReadonlySet<string> = new Set(["text", "thinking"]);

export class CompletionEstimate {
  #frames = 0;
  #textBytes = 0;

  get tokens(): number {
    return toTokens(this.#frames, this.#textBytes);
  }

  /** Estimates the tokens after one more frame. */
  tokensWith(textBytes: number): number {
    return toTokens(this.#frames + 1, this.#textBytes + textBytes);
  }

  addFrame(textBytes: number): void {
    this.#frames += 1;
    this.#textBytes += textBytes;
  }
}

function toTokens(frames: number, textBytes: number): number {
  return Math.max(frames, Math.ceil(textBytes / BYTES_PER_TOKEN));
}

/** Bytes of the generated text in a chunk's choices. Log probabilities, which repeat the text, do not count. */
export function textBytesOf(choices: readonly unknown[]): number {
  return choices.reduce((sum: number, choice) => {
    const { delta, text } = (choice ?? {}) as { delta?: unknown; text?: unknown };
    return sum + bytesOf(delta ?? { text });
  }, 0);
}

/** Counts the bytes of strings under text keys at any depth. */
function bytesOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  let bytes = 0;
  for (const [key, each] of Object.entries(value)) {
    bytes += typeof each !== "string" ? bytesOf(each) : isText(key) ? Buffer.byteLength(each) : 0;
  }
  return bytes;
}

function isText(key: string): boolean {
  return TEXT_KEYS.has(key) || PART_KEYS.has(key);
}
