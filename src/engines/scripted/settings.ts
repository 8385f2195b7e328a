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

const toolCall = z.strictObject({
  name: z.string().min(1),
  arguments: z.looseObject({}).default({}).describe("What it is called with"),
});

const reply = z
  .strictObject({
    match: match
      .optional()
      .describe("A part of the last user message, or a /regular expression/; left out: every message"),
    match_tool: match
      .optional()
      .describe("As `match`, of the last message where that is a tool's; holds nowhere else. Left out: every message"),
    text: z.string().optional().describe("Left out: the last user message is said back, unless a tool is called"),
    texts: z.array(z.string()).min(1).optional().describe("In place of `text`: what each of several choices says"),
    reasoning: z.string().optional().describe("What is thought before, unless `reasoning_effort` is none"),
    tool_calls: z
      .array(toolCall)
      .default([])
      .describe("Calls after the text, of tools that the request has and its choice allows"),
    finish_reason: z
      .enum(["stop", "length", "tool_calls", "content_filter"])
      .optional()
      .describe("How the answer ends. Left out: tool_calls where a tool is called, otherwise stop"),
    delay_ms_before_first: milliseconds.describe("Milliseconds before the answer begins"),
    delay_ms_per_token: milliseconds.describe("Milliseconds before each token"),
    fail_after_tokens: z.int().min(0).optional().describe("0: before the answer begins"),
    fail_with: failure.optional().describe("The failure that `fail_after_tokens` brings"),
    crash_after_tokens: z.int().min(0).optional().describe("Kills the model's process; needs `process: child`"),
    crash_signal: z.enum(["SIGSEGV", "SIGKILL", "SIGABRT"]).default("SIGSEGV").describe("What kills it"),
  })
  .transform((value) => ({
    match: value.match,
    matchTool: value.match_tool,
    text: value.text,
    texts: value.texts,
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

const abilities = z
  .strictObject({
    tools: z.boolean().default(false),
    json_schema: z.boolean().default(false).describe("Nothing is checked: the script has to say what fits"),
    vision: z.boolean().default(false).describe("Images are taken and not looked at"),
    logprobs: z.boolean().default(false),
    reasoning: z.boolean().default(false),
    choices: z.int().min(1).max(128).default(1).describe("Most answers to one request"),
  })
  .transform(({ json_schema, ...others }) => ({ ...others, jsonSchema: json_schema }));

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

/** Nobody can crash a production service by its configuration alone. */
function mayCrash(): boolean {
  return process.env.PARLANCE_TEST_ENGINES === "1";
}

export const scriptedSettings = z
  .strictObject({
    replies: z.array(reply).default([]).describe("The first whose `match` holds answers"),
    echo: z.boolean().default(false).describe("Says the last user message back when no reply matches"),
    slots: z.int().min(1).default(4).describe("Requests served at once; more wait"),
    abilities: abilities.prefault({}).describe("What requests may ask for; all else is refused"),
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
