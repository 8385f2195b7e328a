/** Fills in the middle: finds the tokens that mark a gap, and writes prompts with them. */

import { z } from "zod";
import type { RawPrompt } from "../../contracts/chat-model.ts";
import { unavailable } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";

/** Where a llama-server is, and the key that it requires. */
export interface ServerAddress {
  origin: string;
  key: string;
}

export interface InfillTokens {
  prefix: number;
  suffix: number;
  middle: number;
}

/** Names of the tokens by model family, as llama.cpp detects them: Qwen, StarCoder and Granite, DeepSeek, GLM. */
const FAMILIES = [
  ["<|fim_prefix|>", "<|fim_suffix|>", "<|fim_middle|>"],
  ["<fim_prefix>", "<fim_suffix>", "<fim_middle>"],
  ["<fim-prefix>", "<fim-suffix>", "<fim-middle>"],
  ["<｜fim▁begin｜>", "<｜fim▁hole｜>", "<｜fim▁end｜>"],
  ["<|code_prefix|>", "<|code_suffix|>", "<|code_middle|>"],
] as const;

const Tokens = lazy.object(() => ({ tokens: z.array(z.int()) }));

/** Resolves with the tokens of the model's vocabulary that mark a gap; undefined without them. */
export async function findInfillTokens(address: ServerAddress, signal: AbortSignal): Promise<InfillTokens | undefined> {
  for (const names of FAMILIES) {
    const tokenLists = await Promise.all(names.map((name) => tokenize(address, name, { parse_special: true }, signal)));
    const [prefix, suffix, middle] = tokenLists.map((tokens) => (tokens.length === 1 ? tokens[0] : undefined));
    if (prefix !== undefined && suffix !== undefined && middle !== undefined) return { prefix, suffix, middle };
  }
  return undefined;
}

/**
 * Writes a prompt with a suffix as token IDs. Text around the gap contains no control tokens, which would end or move the
 * gap.
 */
export async function toInfillPrompt(
  { input, suffix = "" }: RawPrompt,
  { tokens, ...address }: ServerAddress & { tokens: InfillTokens },
  signal: AbortSignal,
): Promise<number[]> {
  const asText = (text: string) => tokenize(address, text, { parse_special: false }, signal);
  const [first, before, after] = await Promise.all([
    tokenize(address, "", { add_special: true }, signal),
    typeof input === "string" ? asText(input) : input,
    asText(suffix),
  ]);
  return [...first, tokens.prefix, ...before, tokens.suffix, ...after, tokens.middle];
}

async function tokenize(
  { origin, key }: ServerAddress,
  content: string,
  options: { parse_special?: boolean; add_special?: boolean },
  signal: AbortSignal,
): Promise<number[]> {
  const response = await fetch(`${origin}/tokenize`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ content, ...options }),
    signal,
  });
  const read = Tokens.safeParse(await response.json());
  if (read.success) return read.data.tokens;
  throw unavailable("llama-server did not tokenize a prompt.", "engine_failed", 2);
}
