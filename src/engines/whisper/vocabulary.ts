/** Whisper's tokens: text as bytes, times, languages, and what steers the decoder. */

import { readFile } from "node:fs/promises";
import { Tokenizer } from "@huggingface/tokenizers";
import { z } from "zod";
import { invalidRequest } from "../../faults.ts";
import type { AlignmentHead } from "./whisper-graphs.ts";

/** Loose, for the tokenizer reads what else there is. */
const TokenizerFile = z.looseObject({
  model: z.looseObject({ vocab: z.record(z.string(), z.int()) }),
  added_tokens: z.array(z.object({ id: z.int(), content: z.string() })),
});

const ModelConfig = z.object({
  alignment_heads: z.array(z.tuple([z.int(), z.int()])).default([]),
  suppress_ids: z.array(z.int()).default([]),
  suppress_ids_begin: z.array(z.int()).default([]),
});

/** The tokens of one model, by what they are for. */
interface Steering {
  endOfText: number;
  start: number;
  translate: number;
  transcribe: number;
  startOfPrevious: number;
  noSpeech: number;
  noTimes: number;
}

const SECONDS_PER_TIME_TOKEN = 0.02;

export class Vocabulary implements Steering {
  readonly endOfText: number;
  readonly start: number;
  readonly translate: number;
  readonly transcribe: number;
  readonly startOfPrevious: number;
  readonly noSpeech: number;
  readonly noTimes: number;
  /** The token of 0.00 s; 0.02 s more with each one after it. */
  readonly firstTime: number;
  /** By code; empty for models of English alone. */
  readonly languages: ReadonlyMap<string, number>;
  /** Never said: signs of sounds and what steers the decoder. */
  readonly suppressed: readonly number[];
  /** Nor at the beginning: a space, and the end. */
  readonly suppressedAtStart: readonly number[];
  readonly alignmentHeads: readonly AlignmentHead[];
  readonly #bytes: ReadonlyMap<number, Uint8Array>;
  readonly #tokenizer: Tokenizer;

  private constructor(file: z.output<typeof TokenizerFile>, config: z.output<typeof ModelConfig>, size: number) {
    const added = new Map(file.added_tokens.map(({ id, content }) => [content, id]));
    const find = (...names: string[]): number => {
      const id = names.map((name) => added.get(`<|${name}|>`)).find((each) => each !== undefined);
      if (id === undefined) throw invalidRequest(`The tokenizer has no token <|${names[0]}|>.`, "files.tokenizer");
      return id;
    };
    this.endOfText = find("endoftext");
    this.start = find("startoftranscript");
    this.translate = find("translate");
    this.transcribe = find("transcribe");
    this.startOfPrevious = find("startofprev");
    this.noSpeech = find("nospeech", "nocaptions");
    this.noTimes = find("notimestamps");
    this.firstTime = this.noTimes + 1;
    // Models of English alone lack one token, and name languages all the same.
    this.languages = size < ENGLISH_AND_MORE ? new Map() : languagesOf(added);
    this.suppressed = [...config.suppress_ids.filter((id) => id >= 0), this.noTimes];
    this.suppressedAtStart = config.suppress_ids_begin;
    this.alignmentHeads = config.alignment_heads;
    this.#bytes = new Map(Object.entries(file.model.vocab).map(([text, id]) => [id, toBytes(text)]));
    this.#tokenizer = new Tokenizer(file, {});
  }

  /** `size` is how many tokens the model tells apart. */
  static async load(tokenizer: string, config: string, size: number): Promise<Vocabulary> {
    const [file, settings] = await Promise.all([
      readJson(tokenizer, TokenizerFile, "files.tokenizer"),
      readJson(config, ModelConfig, "files.config"),
    ]);
    return new Vocabulary(file, settings, size);
  }

  isTime(token: number): boolean {
    return token >= this.firstTime;
  }

  /** In a window. */
  secondsOf(token: number): number {
    return (token - this.firstTime) * SECONDS_PER_TIME_TOKEN;
  }

  encode(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** Of text alone: what steers and the times are left out. */
  decode(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.#bytes.get(token) ?? NOTHING)).toString("utf8");
  }
}

const ENGLISH_AND_MORE = 51_865;
const NOTHING = new Uint8Array(0);

function languagesOf(added: ReadonlyMap<string, number>): Map<string, number> {
  const codes = [...added].flatMap(([content, id]) => {
    const code = /^<\|([a-z]{2,3})\|>$/.exec(content)?.[1];
    // Javanese has another code by now.
    return code === undefined ? [] : [[code === "jw" ? "jv" : code, id] as const];
  });
  return new Map(codes);
}

/** GPT-2 writes each byte as one printable character: itself where it is one, else from U+0100 on. */
const BYTE_OF_CHARACTER: ReadonlyMap<string, number> = (() => {
  const isPrintable = (byte: number) => (byte > 32 && byte < 127) || (byte > 160 && byte !== 173);
  const bytes = Array.from({ length: 256 }, (_, byte) => byte);
  const others = bytes.filter((byte) => !isPrintable(byte));
  return new Map(
    bytes.map((byte) => [String.fromCodePoint(isPrintable(byte) ? byte : 256 + others.indexOf(byte)), byte]),
  );
})();

function toBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => BYTE_OF_CHARACTER.get(character) ?? 0);
}

async function readJson<Output>(path: string, schema: z.ZodType<Output>, param: string): Promise<Output> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, "utf8"));
  } catch {
    throw invalidRequest(`${path} is not JSON.`, param);
  }
  const parsed = schema.safeParse(content);
  if (!parsed.success)
    throw invalidRequest(`${path} is not a Whisper model's: ${z.prettifyError(parsed.error)}`, param);
  return parsed.data;
}
