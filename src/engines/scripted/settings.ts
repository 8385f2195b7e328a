/** Settings of a deployment of this engine, which determine all that it does. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";

const milliseconds = z.number().min(0).default(0);

/** Kinds of Fault that an engine may throw; `bug` throws another error. */
const failure = lazy
  .strictObject(() => ({
    kind: z
      .enum(["invalid-request", "request-rate-limited", "unavailable", "upstream-failed", "upstream-timeout", "bug"])
      .default("unavailable")
      .describe("Kind of the failure; bug: an unexpected error"),
    message: z.string().default("The configured failure.").describe("Message for the caller"),
    code: z.string().optional().describe("The error's `code`"),
    retry_after_seconds: z.int().min(1).optional().describe("Seconds until the caller should retry"),
  }))
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

const toolCall = lazy.strictObject(() => ({
  name: z.string().min(1),
  arguments: z.looseObject({}).default({}).describe("Arguments of the call"),
}));

const reply = lazy
  .strictObject(() => ({
    match: match
      .optional()
      .describe("A substring of the last user message, or a /regular expression/. Default: matches every message"),
    match_tool: match
      .optional()
      .describe(
        "Like `match`, for the last message if it is a tool result; never matches otherwise. Default: matches every message",
      ),
    text: z
      .string()
      .optional()
      .describe("Text of the answer. Default: repeats the last user message, unless the reply calls a tool"),
    texts: z.array(z.string()).min(1).optional().describe("Instead of `text`: the text of each of several choices"),
    refusal: z.string().optional().describe("Text in which the model declines to answer, instead of `text`"),
    reasoning: z.string().optional().describe("Reasoning before the answer, unless `reasoning_effort` is none"),
    tool_calls: z
      .array(toolCall)
      .default([])
      .describe("Calls after the text, of tools in the request that its choice allows"),
    finish_reason: z
      .enum(["stop", "length", "tool_calls", "content_filter"])
      .optional()
      .describe("Finish reason. Default: tool_calls after a tool call, otherwise stop"),
    delay_ms_before_first: milliseconds.describe("Milliseconds before the answer begins"),
    delay_ms_per_token: milliseconds.describe("Milliseconds before each token"),
    fail_after_tokens: z.int().min(0).optional().describe("Tokens before the failure; 0: before the answer begins"),
    fail_with: failure.optional().describe("The failure after `fail_after_tokens`"),
    crash_after_tokens: z
      .int()
      .min(0)
      .optional()
      .describe("Tokens before the model's process kills itself; needs `process: child`"),
    crash_signal: z
      .enum(["SIGSEGV", "SIGKILL", "SIGABRT"])
      .default("SIGSEGV")
      .describe("Signal for `crash_after_tokens`"),
  }))
  .transform((value) => ({
    match: value.match,
    matchTool: value.match_tool,
    text: value.text,
    texts: value.texts,
    refusal: value.refusal,
    reasoning: value.reasoning,
    toolCalls: value.tool_calls,
    finishReason: value.finish_reason,
    delayMsBeforeFirst: value.delay_ms_before_first,
    delayMsPerToken: value.delay_ms_per_token,
    failAfterTokens: value.fail_after_tokens,
    failWith: value.fail_with ?? failure.parse({}),
    crashAfterTokens: value.crash_after_tokens,
    crashSignal: value.crash_signal,
  }));

const abilities = lazy
  .strictObject(() => ({
    tools: z.boolean().default(false),
    json_schema: z
      .boolean()
      .default(false)
      .describe("Accepts schemas without enforcing them: the replies have to match"),
    vision: z.boolean().default(false).describe("Accepts images and ignores them"),
    logprobs: z.boolean().default(false),
    reasoning: z.boolean().default(false),
    choices: z.int().min(1).max(128).default(1).describe("Maximum choices of a request"),
    completions: z.boolean().default(true).describe("Continues prompts that bypass the chat template"),
    continuation: z.boolean().default(false).describe("Accepts a last message that begins the answer"),
    infill: z.boolean().default(false).describe("Accepts prompts with a suffix"),
  }))
  .transform(({ json_schema, ...others }) => ({ ...others, jsonSchema: json_schema }));

const speech = lazy
  .strictObject(() => ({
    voices: z.array(z.string().min(1)).min(1).default(["low", "high"]).describe("Voice names; each has its own pitch"),
    sample_rate: z.int().min(8000).max(48_000).default(24_000).describe("Samples per second"),
    max_input_characters: z.int().min(1).default(4096).describe("Maximum characters of a request"),
    delay_ms_before_first: milliseconds.describe("Milliseconds before the first sound"),
    delay_ms_per_sentence: milliseconds.describe("Milliseconds before each sentence except the first"),
  }))
  .transform((value) => ({
    voices: value.voices,
    sampleRate: value.sample_rate,
    maxInputCharacters: value.max_input_characters,
    delayMsBeforeFirst: value.delay_ms_before_first,
    delayMsPerSentence: value.delay_ms_per_sentence,
  }));

/** Prevents a configuration from crashing a production service. */
function mayCrash(): boolean {
  return process.env.PARLANCE_TEST_ENGINES === "1";
}

export const scriptedSettings = lazy
  .strictObject(() => ({
    replies: z.array(reply).default([]).describe("The first reply that matches answers"),
    echo: z.boolean().default(false).describe("Repeats the last user message when no reply matches"),
    slots: z.int().min(1).default(4).describe("Concurrent requests; more wait"),
    abilities: abilities.prefault({}).describe("Optional features that requests may use; others are refused"),
    context_window: z.int().min(2).default(4096).describe("Maximum tokens of prompt and answer together"),
    speech: speech.optional().describe("For the task speech: plays a tone for each sentence"),
    process: z
      .enum(["parent", "child"])
      .default("parent")
      .describe("child: runs in a supervised child process, like engines with weights"),
  }))
  .refine((value) => value.echo || value.replies.length > 0 || value.speech !== undefined, {
    error: "needs `replies`, or `echo: true`, or for speech `speech`",
  })
  .refine((value) => value.process === "child" || value.replies.every((each) => each.crashAfterTokens === undefined), {
    error: "crash_after_tokens would end the service itself: set `process: child`",
    path: ["process"],
  })
  .refine((value) => mayCrash() || value.replies.every((each) => each.crashAfterTokens === undefined), {
    error: "crash_after_tokens needs the environment variable PARLANCE_TEST_ENGINES=1",
    path: ["replies"],
  })
  .transform((value) => ({
    replies: value.echo ? [...value.replies, reply.parse({})] : value.replies,
    slots: value.slots,
    abilities: value.abilities,
    contextWindow: value.context_window,
    speech: value.speech,
    process: value.process,
  }));

export type ScriptedSettings = z.output<typeof scriptedSettings>;
export type ScriptedReply = ScriptedSettings["replies"][number];
export type ScriptedSpeechSettings = z.output<typeof speech>;
