/** Moonshine's vocabulary: Llama's 32,000 SentencePiece tokens, followed by control tokens. */

import { readFile } from "node:fs/promises";
import { ModelFileError } from "./errors.ts";

const LLAMA_TOKENS = 32_000;
/** llama-tokenizer-js holds the vocabulary, one token a line, and the merges as two long base64 literals. */
const BASE64_LITERAL = /"([A-Za-z0-9+/=]{100000,})"/g;
const BYTE_TOKEN = /^<0x([0-9A-F]{2})>$/;
const FIRST_TEXT_TOKEN = 3;

export class MoonshineTokenizer {
  readonly startOfText = 1;
  readonly endOfText = 2;
  readonly #bytes: readonly Buffer[];

  private constructor(tokens: readonly string[]) {
    this.#bytes = tokens.map(toBytes);
  }

  /**
   * Reads the vocabulary out of the source of npm's llama-tokenizer-js, which is not executed. Throws a ModelFileError when
   * the source does not hold it.
   */
  static parse(source: string): MoonshineTokenizer {
    for (const [, base64 = ""] of source.matchAll(BASE64_LITERAL)) {
      const tokens = Buffer.from(base64, "base64").toString("utf8").split("\n");
      if (tokens.length >= LLAMA_TOKENS && tokens[0] === "<unk>") return new MoonshineTokenizer(tokens);
    }
    throw new ModelFileError("tokenizer", "The tokenizer's source does not hold Llama's vocabulary.");
  }

  static async load(path: string): Promise<MoonshineTokenizer> {
    return MoonshineTokenizer.parse(await readFile(path, "utf8"));
  }

  /** The text, without control tokens and surrounding spaces. */
  decode(tokens: readonly number[]): string {
    const isText = (token: number) => token >= FIRST_TEXT_TOKEN && token < LLAMA_TOKENS;
    return Buffer.concat(tokens.filter(isText).map((token) => this.#bytes[token] ?? Buffer.alloc(0)))
      .toString("utf8")
      .trim();
  }
}

function toBytes(token: string): Buffer {
  const byte = BYTE_TOKEN.exec(token)?.[1];
  // SentencePiece writes a space as U+2581.
  return byte === undefined ? Buffer.from(token.replaceAll("\u2581", " ")) : Buffer.from(byte, "hex");
}
