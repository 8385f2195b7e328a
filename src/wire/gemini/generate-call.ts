/** Converts Gemini's requests to chat calls. */

import type { ChatCall } from "../../contracts/chat-call.ts";
import type { AnswerFormat, ChatDefaults, ChatRequest, Tool, ToolChoice } from "../../contracts/chat-model.ts";
import { defaultChatRequest } from "../../contracts/default-chat-request.ts";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { repeatedIndex } from "../../kernel/repeated-index.ts";
import type { FormatContext } from "../chat-format.ts";
import { toModerationInput } from "../moderation-input.ts";
import { type ChatCompletionBody, readChatBody } from "../openai/chat/chat-body.ts";
import { toChatCall } from "../openai/chat/chat-call.ts";
import { checkUnknownFields, type UnknownFieldsPolicy, type UnsupportedField } from "../openai/unknown-fields.ts";
import { toTypedCall } from "../typed-call.ts";
import { fieldsOfUpstreams, toUpstreamFields } from "../upstream-fields.ts";
import { toMessages } from "./gemini-messages.ts";
import type { GenerateContentBody } from "./generate-body.ts";
import { toJsonSchema } from "./to-json-schema.ts";

/** Returns the prompt as a body of chat completions. Throws a Fault. */
export function toChatBody(model: string, body: GenerateContentBody): ChatCompletionBody {
  return readChatBody({ model, messages: toMessages(body) });
}

/** `chat`: the prompt, with content in place of what it refers to. Throws a Fault. */
export function toGenerateCall(
  body: GenerateContentBody,
  chat: ChatCompletionBody,
  context: FormatContext,
  defaults: ChatDefaults = {},
): ChatCall {
  const { callerHeaders } = context;
  const { messages } = toTypedCall(toChatCall(chat, callerHeaders, "ignore")).request;
  const omitted = defaultChatRequest(defaults);
  const { generationConfig: config, serviceTier: tier } = body;
  const request: ChatRequest = {
    ...omitted,
    model: chat.model,
    messages,
    ...toToolFields(body),
    format: toFormat(body),
    maxTokens: config?.maxOutputTokens ?? omitted.maxTokens,
    temperature: config?.temperature ?? omitted.temperature,
    topP: config?.topP ?? omitted.topP,
    topK: config?.topK === 0 ? undefined : (config?.topK ?? omitted.topK),
    seed: config?.seed,
    stop: config?.stopSequences ?? [],
    choices: config?.candidateCount ?? 1,
    presencePenalty: config?.presencePenalty ?? omitted.presencePenalty,
    frequencyPenalty: config?.frequencyPenalty ?? omitted.frequencyPenalty,
    topLogprobs: config?.responseLogprobs === true ? (config.logprobs ?? 0) : undefined,
    ...toThinking(body, omitted),
    ...toUpstreamFields({ service_tier: tier === "standard" ? "default" : tier }),
    callerHeaders,
  };
  return {
    request,
    moderationInput: () => toModerationInput(request),
    withDefaults: (more) => toGenerateCall(body, chat, context, { ...more, ...defaults }),
  };
}

/** Converts the fields that the prompt consists of; `chat`: from `toChatBody`. Throws a Fault. */
export function toPromptParts(body: GenerateContentBody, chat: ChatCompletionBody, context: FormatContext) {
  const { messages, tools, format } = toGenerateCall(body, chat, context).request;
  return { messages, tools, format };
}

function toToolFields({ tools = [], toolConfig }: GenerateContentBody): Pick<ChatRequest, "tools" | "toolChoice"> {
  const declared = tools.flatMap((tool, index) => toTools(tool, `tools[${index}]`));
  const names = declared.map(({ name }) => name);
  const repeated = names[repeatedIndex(names)];
  if (repeated !== undefined) throw invalidRequest(`'tools' declares '${repeated}' twice.`, "tools", "invalid_value");
  const { mode, allowedFunctionNames: allowed = [] } = toolConfig?.functionCallingConfig ?? {};
  const param = "toolConfig.functionCallingConfig.allowedFunctionNames";
  const nameSet = new Set(names);
  const missing = allowed.find((name) => !nameSet.has(name));
  if (missing !== undefined) {
    throw invalidRequest(`'tools' declares no function '${missing.slice(0, 128)}'.`, param, "invalid_value");
  }
  const [only, ...others] = mode === "ANY" ? allowed : [];
  if (only !== undefined && others.length === 0) return { tools: declared, toolChoice: { name: only } };
  const choice: ToolChoice = mode === "NONE" ? "none" : mode === "ANY" && declared.length > 0 ? "required" : "auto";
  const allowedSet = new Set(allowed);
  const chosen = allowed.length === 0 ? declared : declared.filter(({ name }) => allowedSet.has(name));
  return { tools: chosen, toolChoice: choice };
}

type SentTool = NonNullable<GenerateContentBody["tools"]>[number];

function toTools({ functionDeclarations, ...hosted }: SentTool, path: string): Tool[] {
  const [name] = Object.entries(hosted).flatMap(([key, value]) => (value == null ? [] : [key]));
  if (name !== undefined) {
    const message = `'${path}.${name}' runs on Google's servers, and no model here has it. Declare a function for it.`;
    throw unsupportedValue(message, `${path}.${name}`);
  }
  return (functionDeclarations ?? []).map((each, index) => {
    const isJsonSchema = each.parametersJsonSchema != null;
    return {
      name: each.name,
      description: each.description ?? undefined,
      parameters: isJsonSchema ? each.parametersJsonSchema : toJsonSchema(each.parameters ?? undefined),
      param: `${path}.functionDeclarations[${index}].${isJsonSchema ? "parametersJsonSchema" : "parameters"}`,
    };
  });
}

function toFormat({ generationConfig: config }: GenerateContentBody): AnswerFormat {
  const type = config?.responseMimeType;
  const jsonSchema = config?.responseJsonSchema ?? config?._responseJsonSchema;
  const schema = jsonSchema ?? (config?.responseSchema && toJsonSchema(config.responseSchema));
  const name = jsonSchema === undefined ? "responseSchema" : "responseJsonSchema";
  if (schema === undefined) return { type: type === "application/json" ? "json" : "text" };
  if (type !== "application/json") {
    const message = `'generationConfig.${name}' needs the 'responseMimeType' application/json.`;
    throw invalidRequest(message, "generationConfig.responseMimeType", "invalid_value");
  }
  return { type: "json-schema", schema, param: `generationConfig.${name}` };
}

/** A budget allows thinking without requiring it, so models that do not think answer too. */
function toThinking(
  { generationConfig }: GenerateContentBody,
  { reasoningEffort }: Pick<ChatRequest, "reasoningEffort">,
) {
  const { thinkingBudget: budget, thinkingLevel: level, includeThoughts } = generationConfig?.thinkingConfig ?? {};
  if (budget === 0) return { reasoningEffort: "none" };
  const isEnabled = budget !== undefined || includeThoughts === true;
  if (!isEnabled && level === undefined) return { reasoningEffort };
  const budgetTokens = budget === undefined || budget < 0 ? undefined : budget;
  return { reasoningEffort, thinking: { isEnabled, budgetTokens, effort: level?.toLowerCase() } };
}

const KNOWN_FIELDS: readonly string[] = [
  ...["model", "contents", "systemInstruction", "tools", "toolConfig", "generationConfig"],
  ...["serviceTier", "labels"],
];

const UNSUPPORTED: Readonly<Record<string, UnsupportedField>> = {
  cachedContent: { instead: "prompts are cached without it; send the complete contents" },
  continuationToken: { instead: "send the contents again" },
  generationOutputConfig: { instead: "the answer is in the response" },
  imageConfig: { instead: "it answers with text" },
};

const KNOWN_CONFIG: readonly string[] = [
  ...["temperature", "topP", "topK", "candidateCount", "maxOutputTokens", "stopSequences", "responseLogprobs"],
  ...["logprobs", "presencePenalty", "frequencyPenalty", "seed", "responseMimeType", "responseSchema"],
  ...["responseJsonSchema", "_responseJsonSchema", "thinkingConfig"],
];

const isText = (value: unknown) => Array.isArray(value) && value.every((each) => each === "TEXT");
const UNSUPPORTED_CONFIG: Readonly<Record<string, UnsupportedField>> = {
  responseModalities: { isDefault: isText, instead: "it answers with text" },
  speechConfig: { instead: "it answers with text" },
  imageConfig: { instead: "it answers with text" },
  responseFormat: { instead: "send 'responseMimeType' and a schema" },
  audioTranscriptionConfig: { instead: "it answers with text" },
  translationConfig: { instead: "ask for the translation in the contents" },
};

/** Returns the paths of fields without effect. Throws a Fault for one that must not be ignored. */
export function ignoredFields(body: GenerateContentBody, policy: UnknownFieldsPolicy, isUpstream: boolean): string[] {
  // Safety is the project's to decide, by its moderation policy and guardrails.
  const { safetySettings, ...others } = body;
  const config = { known: KNOWN_CONFIG, unsupported: UNSUPPORTED_CONFIG, policy };
  const inConfig = checkUnknownFields(body.generationConfig, config).filter((name) => name !== "responseModalities");
  return [
    ...checkUnknownFields(others, { known: KNOWN_FIELDS, unsupported: UNSUPPORTED, policy }),
    ...(safetySettings === undefined ? [] : ["safetySettings"]),
    ...inConfig.map((name) => `generationConfig.${name}`),
    ...(isUpstream ? [] : fieldsOfUpstreams({ service_tier: body.serviceTier }).map(() => "serviceTier")),
  ];
}
