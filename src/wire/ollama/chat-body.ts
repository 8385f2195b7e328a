/** POST /api/chat and /api/generate: validates the bodies and converts them to chat calls. */

import { z } from "zod";
import type { ChatDefaults, ChatRequest, RawPrompt } from "../../contracts/chat-model.ts";
import { DEFAULT_CHAT_REQUEST } from "../../contracts/default-chat-request.ts";
import type { CallerHeaders } from "../../contracts/open-model.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { toModerationInput } from "../moderation-input.ts";
import type { ModerationTexts } from "../moderation-texts.ts";
import { Tools, toTools } from "../openai/chat/chat-tools.ts";
import { optional } from "../openai/optional.ts";
import { checkUnknownFields, type UnknownFieldsPolicy } from "../openai/unknown-fields.ts";
import { parse } from "../openai/validate.ts";
import { named } from "../openapi/named.ts";
import { otherToolForm } from "../tool-forms.ts";
import { Images, Messages, toChatMessages, toContent } from "./messages.ts";
import { Format, ignoredOptions, Options, Think, toAnswerFormat, toReasoningEffort, toSampling } from "./options.ts";

const COMMON = {
  model: z.string().min(1),
  stream: optional(z.boolean()),
  format: optional(Format),
  options: optional(Options),
  think: optional(Think),
  logprobs: optional(z.boolean()),
  top_logprobs: optional(z.int().min(0).max(20)),
  /** Without effect: the service decides when to unload. */
  keep_alive: optional(z.unknown()),
};

export const OllamaChatBody = named(
  "OllamaChatBody",
  lazy.looseObject(() => ({
    ...COMMON,
    messages: optional(Messages),
    tools: optional(Tools),
  })),
);

export const OllamaGenerateBody = named(
  "OllamaGenerateBody",
  lazy.looseObject(() => ({
    ...COMMON,
    prompt: optional(z.string()),
    suffix: optional(z.string()),
    system: optional(z.string()),
    images: optional(Images),
    raw: optional(z.boolean()),
  })),
);

interface ReadContext {
  callerHeaders: CallerHeaders;
  policy: UnknownFieldsPolicy;
  /** Returns the catalog's ID for a name that may have a tag. */
  idOf(name: string): string;
}

export interface OllamaCall {
  model: string;
  isStreamed: boolean;
  /** Undefined for a request that only loads or unloads the model. */
  call: ChatCallParts | undefined;
  /** Paths of fields without effect. */
  ignored: string[];
}

interface ChatCallParts {
  request: ChatRequest;
  prompts?: readonly RawPrompt[];
  moderationInput(): ModerationTexts;
  withDefaults(defaults: ChatDefaults): ChatCallParts;
}

type Common = z.output<ReturnType<typeof z.looseObject<typeof COMMON>>>;

/** Throws a Fault that names the first invalid field. */
export function readOllamaChat(value: unknown, context: ReadContext): OllamaCall {
  const body = parse(OllamaChatBody, value, (path) => otherToolForm(value, path, "chat"));
  const messages = toChatMessages(body.messages ?? []);
  const tools = toTools(body.tools ?? [], undefined);
  const request = { ...toRequest(body, context), messages, tools };
  const call = messages.length === 0 ? undefined : toCall(body, request);
  return { ...toFacts(body, OllamaChatBody.shape, context), call };
}

/** Throws a Fault that names the first invalid field. */
export function readOllamaGenerate(value: unknown, context: ReadContext): OllamaCall {
  const body = parse(OllamaGenerateBody, value);
  const { prompt = "", suffix, system, images = [], raw } = body;
  const facts = toFacts(body, OllamaGenerateBody.shape, context);
  const request = toRequest(body, context);
  if (prompt === "" && images.length === 0 && !suffix) return { ...facts, call: undefined };
  if (raw === true || suffix) {
    if (images.length > 0) throw invalidRequest("A raw prompt has no place for images.", "images", "invalid_value");
    return { ...facts, call: toCall(body, request, [{ input: prompt, suffix: suffix || undefined }]) };
  }
  const messages: ChatRequest["messages"] = [
    ...(system ? [{ role: "system" as const, content: system }] : []),
    { role: "user", content: toContent(prompt, images, "") },
  ];
  return { ...facts, call: toCall(body, { ...request, messages }) };
}

function toFacts(body: Common, shape: object, { policy }: ReadContext): Omit<OllamaCall, "call"> {
  const unknown = checkUnknownFields(body, { known: Object.keys(shape), unsupported: {}, policy });
  return {
    model: body.model,
    isStreamed: body.stream !== false,
    ignored: [...unknown, ...ignoredOptions(body.options)],
  };
}

function toRequest(body: Common, { callerHeaders, idOf }: ReadContext): ChatRequest {
  return {
    ...DEFAULT_CHAT_REQUEST,
    ...toSampling(body.options),
    model: idOf(body.model),
    messages: [],
    format: toAnswerFormat(body.format),
    reasoningEffort: toReasoningEffort(body.think),
    topLogprobs: body.logprobs === true ? (body.top_logprobs ?? 0) : undefined,
    callerHeaders,
  };
}

function toCall(body: Common, request: ChatRequest, prompts?: readonly RawPrompt[]): ChatCallParts {
  return {
    request,
    ...(prompts === undefined ? {} : { prompts }),
    moderationInput: () => {
      const { texts, unmoderatable } = toModerationInput(request);
      const raw = (prompts ?? []).flatMap(({ input, suffix = "" }) => [String(input), suffix]);
      return { texts: [...texts, ...raw].filter(Boolean), unmoderatable };
    },
    withDefaults: (defaults) => {
      const effort = request.reasoningEffort ?? (body.think === undefined ? defaults.reasoningEffort : undefined);
      return toCall(body, { ...request, ...toSampling(body.options, defaults), reasoningEffort: effort }, prompts);
    },
  };
}
