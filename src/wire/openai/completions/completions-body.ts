/** POST /v1/completions: validates the body for every model, local or upstream. */

import { z } from "zod";
import type { RawPrompt } from "../../../contracts/chat-model.ts";
import { lazy } from "../../../kernel/lazy.ts";
import { describedBy } from "../../openapi/described-by.ts";
import { named } from "../../openapi/named.ts";
import { Integer, SAMPLING_FIELDS, samplingProblem } from "../chat/sampling-fields.ts";
import { optional } from "../optional.ts";
import { readTextInputs, TextInputs } from "../text-inputs.ts";
import { parse } from "../validate.ts";

const MAX_PROMPTS = 256;

const FIELDS = {
  model: z.string().min(1),
  prompt: describedBy(z.unknown(), TextInputs),
  ...SAMPLING_FIELDS,
  stream: optional(z.boolean()),
  stream_options: optional(lazy.looseObject(() => ({ include_usage: optional(z.boolean()) }))),
  max_tokens: optional(z.int().min(0)),
  logprobs: optional(Integer(0, 20)),
  echo: optional(z.boolean()),
  suffix: optional(z.string()),
  best_of: optional(Integer(1, 128)),
  user: optional(z.string()),
};

export const CompletionBody = named(
  "TextCompletionBody",
  z.looseObject(FIELDS).check(({ value, issues }) => {
    const refuse = (path: string[], input: unknown, message: string) =>
      issues.push({ code: "custom", path, input, message });
    const { n = 1, best_of, stream, stream_options, echo, suffix } = value;
    if (stream_options !== undefined && stream !== true) {
      refuse(["stream_options"], stream_options, "it may be set only when 'stream' is true");
    }
    if (best_of !== undefined && best_of < n) refuse(["best_of"], best_of, "it must be at least 'n'");
    if (best_of !== undefined && best_of > n && stream === true) {
      refuse(["best_of"], best_of, "the best answers are known only at the end, so they cannot be streamed");
    }
    if (echo === true && suffix) refuse(["echo"], echo, "a prompt with a suffix cannot be echoed");
    const problem = samplingProblem(value);
    if (problem !== undefined) refuse(...problem);
  }),
);

export type CompletionBody = z.output<typeof CompletionBody>;

export const KNOWN_COMPLETION_FIELDS: readonly string[] = Object.keys(FIELDS);

/** Validates the body. Throws a Fault that names the first invalid field. */
export function readCompletionBody(value: unknown): CompletionBody {
  return parse(CompletionBody, value);
}

/** Reads the prompts: a text, texts, token IDs or arrays of token IDs. Throws a Fault. */
export function readPrompts({ prompt, suffix, echo }: CompletionBody): readonly RawPrompt[] {
  // Clients send an empty suffix for none.
  const options = { suffix: suffix === "" ? undefined : suffix, echo };
  return readTextInputs(prompt, "prompt", MAX_PROMPTS).map((input) => ({ input, ...options }));
}
