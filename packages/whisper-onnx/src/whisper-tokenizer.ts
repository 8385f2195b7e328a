/** Whisper's vocabulary: text as bytes, timestamps, languages and other special tokens. */

import { readFile } from "node:fs/promises";
import { Tokenizer } from "@huggingface/tokenizers";
import { z } from "zod";
import { ModelFileError, type WhisperFile } from "./errors.ts";
import type { AlignmentHead } from "./whisper-graphs.ts";

/** Loose, because the tokenizer reads the other fields. */
const TokenizerFile = z.looseObject({
  model: z.looseObject({ vocab: z.record(z.string(), z.int()) }),
  added_tokens: z.array(z.object({ id: z.int(), content: z.string() })),
});

const ModelConfig = z.object({
  alignment_heads: z.array(z.tuple([z.int(), z.int()])).default([]),
  suppress_ids: z.array(z.int()).default([]),
  suppress_ids_begin: z.array(z.int()).default([]),
});

interface SpecialTokens {
  endOfText: number;
  startOfTranscript: number;
  translate: number;
  transcribe: number;
  startOfPrevious: number;
  noSpeech: number;
  noTimestamps: number;
}

/** Between consecutive timestamp tokens. */
const SECONDS_PER_TIMESTAMP = 0.02;

export class WhisperTokenizer implements SpecialTokens {
  readonly endOfText: number;
  readonly startOfTranscript: number;
  readonly translate: number;
  readonly transcribe: number;
  readonly startOfPrevious: number;
  readonly noSpeech: number;
  readonly noTimestamps: number;
  /** The token of 0.00 s. */
  readonly firstTimestamp: number;
  /** Tokens by ISO 639 code; empty for English-only models. */
  readonly languages: ReadonlyMap<string, number>;
  /** Never decoded: symbols for sounds, and special tokens. */
  readonly suppressed: readonly number[];
  /** Not decoded as the first token: a space and the end of text. */
  readonly suppressedAtStart: readonly number[];
  readonly alignmentHeads: readonly AlignmentHead[];
  readonly #bytes: ReadonlyMap<number, Uint8Array>;
  readonly #tokenizer: Tokenizer;

  private constructor(file: z.output<typeof TokenizerFile>, config: z.output<typeof ModelConfig>, size: number) {
    const added = new Map(file.added_tokens.map(({ id, content }) => [content, id]));
    const find = (...names: string[]): number => {
      const id = names.map((name) => added.get(`<|${name}|>`)).find((each) => each !== undefined);
      if (id === undefined) throw new ModelFileError("tokenizer", `The tokenizer has no token <|${names[0]}|>.`);
      return id;
    };
    this.endOfText = find("endoftext");
    this.startOfTranscript = find("startoftranscript");
    this.translate = find("translate");
    this.transcribe = find("transcribe");
    this.startOfPrevious = find("startofprev");
    this.noSpeech = find("nospeech", "nocaptions");
    this.noTimestamps = find("notimestamps");
    this.firstTimestamp = this.noTimestamps + 1;
    // English-only models lack one token but name the languages as well.
    this.languages = size < MULTILINGUAL_TOKENS ? new Map() : languagesOf(added);
    this.suppressed = [...config.suppress_ids.filter((id) => id >= 0), this.noTimestamps];
    this.suppressedAtStart = config.suppress_ids_begin;
    this.alignmentHeads = config.alignment_heads;
    this.#bytes = new Map(Object.entries(file.model.vocab).map(([text, id]) => [id, toBytes(text)]));
    this.#tokenizer = new Tokenizer(file, {});
  }

  /** `size` is the number of rows of the model's embedding. Throws a ModelFileError. */
  static async load(tokenizerPath: string, configPath: string, size: number): Promise<WhisperTokenizer> {
    const [file, settings] = await Promise.all([
      readJson(tokenizerPath, TokenizerFile, "tokenizer"),
      readJson(configPath, ModelConfig, "config"),
    ]);
    return new WhisperTokenizer(file, settings, size);
  }

  isTimestamp(token: number): boolean {
    return token >= this.firstTimestamp;
  }

  /** Relative to the window. */
  secondsOf(token: number): number {
    return (token - this.firstTimestamp) * SECONDS_PER_TIMESTAMP;
  }

  encode(text: string): number[] {
    return this.#tokenizer.encode(text, { add_special_tokens: false }).ids;
  }

  /** The text, without timestamps and other special tokens. */
  decode(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.#bytes.get(token) ?? NO_BYTES)).toString("utf8");
  }
}

const MULTILINGUAL_TOKENS = 51_865;
const NO_BYTES = new Uint8Array(0);

function languagesOf(added: ReadonlyMap<string, number>): Map<string, number> {
  const codes = [...added].flatMap(([content, id]) => {
    const code = /^<\|([a-z]{2,3})\|>$/.exec(content)?.[1];
    // Whisper uses the withdrawn code of Javanese.
    return code === undefined ? [] : [[code === "jw" ? "jv" : code, id] as const];
  });
  return new Map(codes);
}

/** GPT-2's byte encoding: a printable byte is its own character, the others follow from U+0100. */
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

async function readJson<Output>(path: string, schema: z.ZodType<Output>, file: WhisperFile): Promise<Output> {
  let content: unknown;
  try {
    content = JSON.parse(await readFile(path, "utf8"));
  } catch {
    throw new ModelFileError(file, `${path} is not JSON.`);
  }
  const parsed = schema.safeParse(content);
  if (!parsed.success)
    throw new ModelFileError(file, `${path} does not belong to a Whisper model: ${z.prettifyError(parsed.error)}`);
  return parsed.data;
}
