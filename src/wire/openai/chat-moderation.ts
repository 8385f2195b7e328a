/** The field `moderation` of a chat request, what it adds to an answer, and how an answer's text is read and taken away. */

import { z } from "zod";
import type { ModerationVerdict } from "../../engines/engine.ts";
import { Fault } from "../../faults.ts";
import { toResult } from "./moderations.ts";

const Direction = z
  .looseObject({ mode: z.enum(["score", "block"], { error: "it must be score or block" }) })
  .nullish()
  .transform((direction) => direction?.mode);

export const ChatModeration = z
  .strictObject({
    model: z
      .string()
      .min(1)
      .nullish()
      .transform((model) => model ?? undefined),
    policy: z.strictObject({ input: Direction, output: Direction }).nullish(),
  })
  .transform(({ model, policy }) => ({ model, input: policy?.input, output: policy?.output }));

interface Judged {
  model: string;
  input: ModerationVerdict | Fault | undefined;
  output: ModerationVerdict | Fault | undefined;
}

/** In the shape that OpenAI's own clients have types for. */
export function toChatModeration({ model, input, output }: Judged): Record<string, unknown> {
  return { input: toResults(model, input), output: toResults(model, output) };
}

function toResults(model: string, verdict: ModerationVerdict | Fault | undefined): Record<string, unknown> {
  if (verdict instanceof Fault) {
    return { type: "error", code: verdict.code ?? "moderation_failed", message: verdict.message };
  }
  const results = verdict === undefined ? [] : [{ type: "moderation_result", model, ...toResult(verdict) }];
  return { type: "moderation_results", model, results };
}

interface Choice {
  index?: number;
  finish_reason?: string | null;
  delta?: Record<string, unknown> | null;
  message?: Record<string, unknown> | null;
}

type Chunk = Record<string, unknown> & { choices?: Choice[] | null };

interface Said {
  choice: number;
  part: string;
  text: string;
}

/** What is no text of the model's: names that the caller gave, marks, and bytes in base64. */
const NO_TEXT: ReadonlySet<string> = new Set(["role", "id", "type", "name", "format", "data", "signature"]);

/** Every text, in whichever field: upstreams have more of them than OpenAI. */
function textsOf({ index: choice = 0, delta, message }: Choice): Said[] {
  const texts: Said[] = [];
  const walk = (value: unknown, part: string) => {
    if (typeof value === "string") texts.push({ choice, part, text: value });
    if (typeof value !== "object" || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (NO_TEXT.has(key)) continue;
      // Calls of tools come in pieces that say by their index where they belong.
      const place = Array.isArray(value) ? ((inner as { index?: number } | null)?.index ?? key) : key;
      const isWritten = key === "arguments" && typeof inner === "object";
      walk(isWritten ? JSON.stringify(inner) : inner, `${part}.${place}`);
    }
  };
  walk(delta ?? message, "");
  return texts;
}

function chunksOf(frames: Uint8Array): Chunk[] {
  const lines = new TextDecoder().decode(frames).split("\n");
  const json = lines.flatMap((line) => (line.startsWith("data: {") ? [line.slice("data: ".length)] : []));
  return json.map((each) => JSON.parse(each) as Chunk);
}

const choicesOf = (frames: Uint8Array) => chunksOf(frames).flatMap(({ choices }) => choices ?? []);

export const frameReader = {
  textsOfFrames: (frames: Uint8Array) => choicesOf(frames).flatMap(textsOf),

  endedIn: (frames: Uint8Array) =>
    choicesOf(frames).flatMap(({ index = 0, finish_reason: reason }) => (reason ? [index] : [])),

  textsOfCompletion: ({ choices }: Readonly<Record<string, unknown>>) => ((choices ?? []) as Choice[]).flatMap(textsOf),

  endBlocked(frames: Uint8Array, open: readonly number[]): Uint8Array {
    const last = chunksOf(frames).findLast(({ choices }) => (choices?.length ?? 0) > 0) ?? {};
    const choices = open.map((index) => ({ index, delta: {}, logprobs: null, finish_reason: "content_filter" }));
    return new TextEncoder().encode(`data: ${JSON.stringify({ ...last, choices })}\n\n`);
  },

  emptyBlocked(completion: Readonly<Record<string, unknown>>): Record<string, unknown> {
    // Nothing else is kept of them: upstreams repeat the text in other fields, as tokens for example.
    const choices = ((completion.choices ?? []) as Choice[]).map(({ index = 0 }) => ({
      index,
      message: { role: "assistant", content: "", refusal: null },
      logprobs: null,
      finish_reason: "content_filter",
    }));
    return { ...completion, choices };
  },
};
