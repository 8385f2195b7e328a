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
  delta?: Record<string, unknown>;
  message?: Record<string, unknown>;
}

type Chunk = Record<string, unknown> & { choices?: Choice[] };

const TEXTS = ["content", "refusal", "reasoning_content", "reasoning"];

function textOf({ delta, message }: Choice): string {
  const part = delta ?? message ?? {};
  const texts = [...TEXTS.map((key) => part[key]), ...argumentsOf(part)];
  return texts.filter((text) => typeof text === "string").join("");
}

function argumentsOf({ tool_calls: calls }: Record<string, unknown>): unknown[] {
  if (!Array.isArray(calls)) return [];
  return (calls as Array<{ function?: { arguments?: unknown } }>).map((call) => call.function?.arguments);
}

function chunksOf(frames: Uint8Array): Chunk[] {
  const lines = new TextDecoder().decode(frames).split("\n");
  const json = lines.flatMap((line) => (line.startsWith("data: {") ? [line.slice("data: ".length)] : []));
  return json.map((each) => JSON.parse(each) as Chunk);
}

const choicesOf = (frames: Uint8Array) => chunksOf(frames).flatMap(({ choices }) => choices ?? []);

export const frameReader = {
  textsOfFrames: (frames: Uint8Array) =>
    choicesOf(frames).map((choice) => ({ choice: choice.index ?? 0, text: textOf(choice) })),

  endedIn: (frames: Uint8Array) =>
    choicesOf(frames).flatMap(({ index = 0, finish_reason: reason }) => (reason ? [index] : [])),

  textOfCompletion: (completion: Readonly<Record<string, unknown>>) =>
    ((completion.choices ?? []) as Choice[]).map(textOf).join("\n"),

  endBlocked(frames: Uint8Array, open: readonly number[]): Uint8Array {
    const last = chunksOf(frames).findLast(({ choices }) => (choices?.length ?? 0) > 0) ?? {};
    const choices = open.map((index) => ({ index, delta: {}, logprobs: null, finish_reason: "content_filter" }));
    return new TextEncoder().encode(`data: ${JSON.stringify({ ...last, choices })}\n\n`);
  },

  emptyBlocked(completion: Readonly<Record<string, unknown>>): Record<string, unknown> {
    const choices = ((completion.choices ?? []) as Choice[]).map((choice) => ({
      ...choice,
      message: { role: "assistant", content: "", refusal: null },
      logprobs: null,
      finish_reason: "content_filter",
    }));
    return { ...completion, choices };
  },
};
