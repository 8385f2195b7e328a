/** Bytes of a token, which may be part of a character. */

import type { LlamaModel, Token } from "node-llama-cpp";

const utf8 = new TextEncoder();
/** Bytes that GPT-2 vocabularies write as themselves; the others are written from U+0100 on, in order. */
const PRINTED: ReadonlyArray<readonly [first: number, last: number]> = [
  [0x21, 0x7e],
  [0xa1, 0xac],
  [0xae, 0xff],
];

export class TokenBytes {
  readonly #model: LlamaModel;
  readonly #texts: readonly string[];
  readonly #kind: string | undefined;
  readonly #byteOf: ReadonlyMap<string, number> = byteCharacters();

  constructor(model: LlamaModel) {
    const { tokens, model: kind } = model.fileInfo.metadata.tokenizer.ggml;
    this.#model = model;
    this.#texts = tokens;
    this.#kind = kind;
  }

  of(token: Token): number[] {
    const text = this.#texts[token] ?? "";
    const { control, userDefined, unknown } = this.#model.getTokenAttributes(token);
    if (control || userDefined || unknown) return [...utf8.encode(text)];
    if (this.#kind === "gpt2")
      return [...text].flatMap((character) => this.#byteOf.get(character) ?? [...utf8.encode(character)]);
    if (this.#kind === "llama") {
      const byte = /^<0x([0-9A-F]{2})>$/.exec(text)?.[1];
      return byte === undefined ? [...utf8.encode(text.replaceAll("\u2581", " "))] : [Number.parseInt(byte, 16)];
    }
    return [...utf8.encode(this.#model.detokenize([token]))];
  }
}

function byteCharacters(): Map<string, number> {
  const isPrinted = (byte: number) => PRINTED.some(([first, last]) => byte >= first && byte <= last);
  let next = 256;
  return new Map(
    Array.from({ length: 256 }, (_, byte) => [String.fromCodePoint(isPrinted(byte) ? byte : next++), byte] as const),
  );
}
