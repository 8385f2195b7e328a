/** Converts a validated body of POST /v1/completions to a chat call with raw prompts. */

import type { ChatDefaults, ChatRequest, RawPrompt } from "../../../contracts/chat-model.ts";
import type { PassThrough } from "../../../contracts/chat-proxy.ts";
import { DEFAULT_CHAT_REQUEST } from "../../../contracts/default-chat-request.ts";
import { rawPromptBytes } from "../../../contracts/estimate-tokens.ts";
import type { CallerHeaders } from "../../../contracts/open-model.ts";
import { unsupportedValue } from "../../../kernel/faults.ts";
import { completionContentOf } from "../../forwarded-content.ts";
import { type ModerationTexts, writtenIn } from "../../moderation-texts.ts";
import { type ParamNames, throwRenamed } from "../../rename-params.ts";
import { withChatDefaults } from "../chat/chat-defaults.ts";
import { toSampling } from "../chat/sampling-fields.ts";
import { type FieldRules, firstRefusedField, type UnknownFieldsPolicy, unknownFieldsOf } from "../unknown-fields.ts";
import { completionAnswerText } from "./completions-answer-text.ts";
import { type CompletionBody, KNOWN_COMPLETION_FIELDS, readPrompts } from "./completions-body.ts";

/** OpenAI's default. */
const DEFAULT_MAX_TOKENS = 16;

interface CompletionCall {
  request: ChatRequest;
  prompts: readonly RawPrompt[];
  passThrough: PassThrough;
  moderationInput(): ModerationTexts;
  withDefaults(defaults: ChatDefaults): CompletionCall;
}

/** `sent`: the body without the model's defaults. Throws a Fault for an invalid prompt. */
export function toCompletionCall(
  body: CompletionBody,
  callerHeaders: CallerHeaders,
  policy: UnknownFieldsPolicy,
  sent = body,
): CompletionCall {
  const prompts = readPrompts(body);
  return {
    request: toRequest(body, callerHeaders),
    prompts,
    passThrough: {
      isTextCompletion: true,
      body,
      stream: body.stream === true,
      unsupportedLocally: () => firstRefusedField(sent, toRules(policy)),
      promptBytes: () => rawPromptBytes(prompts),
      contentOf: completionContentOf,
      answerText: completionAnswerText,
    },
    moderationInput: () => toModerationInput(body, prompts),
    withDefaults: (defaults) => toCompletionCall(withCompletionDefaults(body, defaults), callerHeaders, policy, sent),
  };
}

function toRequest(body: CompletionBody, callerHeaders: CallerHeaders): ChatRequest {
  const { n = 1, best_of = n } = body;
  return {
    ...DEFAULT_CHAT_REQUEST,
    ...toSampling(body),
    model: body.model,
    messages: [],
    choices: best_of,
    maxTokens: body.max_tokens ?? DEFAULT_MAX_TOKENS,
    // The best answers are those with the highest log probability of a token.
    topLogprobs: body.logprobs ?? (best_of > n ? 0 : undefined),
    callerHeaders,
  };
}

function withCompletionDefaults(body: CompletionBody, defaults: ChatDefaults): CompletionBody {
  const { maxTokens, reasoningEffort: _reasoningEffort, ...sampling } = defaults;
  const max_tokens = body.max_tokens ?? maxTokens;
  return { ...withChatDefaults(body, sampling), ...(max_tokens === undefined ? {} : { max_tokens }) };
}

/** Builds the moderation input: the prompts, and fields that only an upstream knows and its model may read. */
function toModerationInput(body: CompletionBody, prompts: readonly RawPrompt[]): ModerationTexts {
  const further = unknownFieldsOf(body, KNOWN_COMPLETION_FIELDS).flatMap((field) => writtenIn(body[field]));
  const hasIds = prompts.some(({ input }) => typeof input !== "string");
  const message = "The moderation policy blocks prompts by their text, and this one consists of token IDs.";
  return {
    texts: [
      ...prompts.flatMap(({ input, suffix = "" }) => [typeof input === "string" ? input : "", suffix].filter(Boolean)),
      ...further,
    ],
    unmoderatable: hasIds ? unsupportedValue(message, "prompt") : undefined,
  };
}

function toRules(policy: UnknownFieldsPolicy): FieldRules {
  return {
    known: KNOWN_COMPLETION_FIELDS,
    unsupported: { response_format: { instead: "use chat completions" } },
    policy,
  };
}

/** Returns the names of fields that a local model ignores. */
export function ignoredCompletionFields(body: CompletionBody): string[] {
  return unknownFieldsOf(body, KNOWN_COMPLETION_FIELDS);
}

const PARAMS: ParamNames = [[/^(messages|context)\b.*/, "prompt"]];

/** Throws the failure of a model as one of text completions. */
export function throwForCompletions(failure: unknown): never {
  return throwRenamed(failure, PARAMS);
}
