/** What a deployment of this engine may say in the configuration: its whole behaviour. */

import { z } from "zod";

const milliseconds = z.number().min(0).default(0);

/** Faults that an engine may end with; `bug` throws what is no Fault. */
const failure = z
  .strictObject({
    kind: z
      .enum(["invalid-request", "request-rate-limited", "unavailable", "upstream-failed", "upstream-timeout", "bug"])
      .default("unavailable")
      .describe("The kind of failure; bug: one that nobody expected"),
    message: z.string().default("The script says to fail here.").describe("What the caller is told"),
    code: z.string().optional().describe("The error's `code`"),
    retry_after_seconds: z.int().min(1).optional().describe("When the caller should try again"),
  })
  .transform((value) => ({
    kind: value.kind,
    message: value.message,
    code: value.code,
    retryAfterSeconds: value.retry_after_seconds,
  }));

const match = z.string().transform((value, context) => {
  const pattern = /^\/(.+)\/([a-z]*)$/s.exec(value);
  if (pattern === null) return value;
  try {
    return new RegExp(pattern[1] as string, pattern[2]);
  } catch (error) {
    context.issues.push({ code: "custom", input: value, message: (error as Error).message });
    return z.NEVER;
  }
});

const reply = z
  .strictObject({
    match: match
      .optional()
      .describe("A part of the last user message, or a /regular expression/; left out: every message"),
    text: z.string().optional().describe("Left out: the last user message is said back"),
    finish_reason: z
      .enum(["stop", "length", "tool_calls", "content_filter"])
      .default("stop")
      .describe("How the answer ends"),
    delay_ms_before_first: milliseconds.describe("Milliseconds before the answer begins"),
    delay_ms_per_token: milliseconds.describe("Milliseconds before each token"),
    fail_after_tokens: z.int().min(0).optional().describe("0: before the answer begins"),
    fail_with: failure.optional().describe("The failure that `fail_after_tokens` brings"),
    crash_after_tokens: z.int().min(0).optional().describe("Kills the model's process; needs `process: child`"),
    crash_signal: z.enum(["SIGSEGV", "SIGKILL", "SIGABRT"]).default("SIGSEGV").describe("What kills it"),
  })
  .transform((value) => ({
    match: value.match,
    text: value.text,
    finishReason: value.finish_reason,
    delayMsBeforeFirst: value.delay_ms_before_first,
    delayMsPerToken: value.delay_ms_per_token,
    failAfterTokens: value.fail_after_tokens,
    failWith: value.fail_with ?? failure.parse({}),
    crashAfterTokens: value.crash_after_tokens,
    crashSignal: value.crash_signal,
  }));

const speech = z
  .strictObject({
    voices: z.array(z.string().min(1)).min(1).default(["low", "high"]).describe("Each hums at a pitch of its own"),
    sample_rate: z.int().min(8000).max(48_000).default(24_000).describe("Samples a second"),
    max_input_characters: z.int().min(1).default(4096).describe("Characters that a request may have"),
    delay_ms_before_first: milliseconds.describe("Milliseconds before the first sound"),
    delay_ms_per_sentence: milliseconds.describe("Before each sentence but the first"),
  })
  .transform((value) => ({
    voices: value.voices,
    sampleRate: value.sample_rate,
    mostInputCharacters: value.max_input_characters,
    delayMsBeforeFirst: value.delay_ms_before_first,
    delayMsPerSentence: value.delay_ms_per_sentence,
  }));

export const scriptedSettings = z
  .strictObject({
    replies: z.array(reply).default([]).describe("The first whose `match` holds answers"),
    echo: z.boolean().default(false).describe("Says the last user message back when no reply matches"),
    slots: z.int().min(1).default(4).describe("Requests served at once; more wait"),
    context_window: z.int().min(2).default(4096).describe("Tokens of prompt and answer together"),
    speech: speech.optional().describe("For the task speech: hums a tone for each sentence"),
    process: z
      .enum(["parent", "child"])
      .default("parent")
      .describe("child: in a supervised process of its own, as engines with weights run"),
  })
  .refine((value) => value.echo || value.replies.length > 0 || value.speech !== undefined, {
    error: "needs `replies`, or `echo: true`, or for speech `speech`",
  })
  .refine((value) => value.process === "child" || value.replies.every((each) => each.crashAfterTokens === undefined), {
    error: "crash_after_tokens would end the service itself: set `process: child`",
    path: ["process"],
  })
  .transform((value) => ({
    replies: value.echo ? [...value.replies, reply.parse({})] : value.replies,
    slots: value.slots,
    contextWindow: value.context_window,
    speech: value.speech,
    process: value.process,
  }));

export type ScriptedSettings = z.output<typeof scriptedSettings>;
export type ScriptedReply = ScriptedSettings["replies"][number];
export type ScriptedSpeechSettings = z.output<typeof speech>;
