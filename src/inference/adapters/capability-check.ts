/** Checks a chat request against the model's abilities. */

import type { ChatCall } from "../../contracts/chat-call.ts";
import type { ChatMessage } from "../../contracts/chat-message.ts";
import type { ChatAbilities, ChatModel, ChatRequest, RawPrompt } from "../../contracts/chat-model.ts";
import { filesIn, imagesIn } from "../../contracts/message-text.ts";
import { contextExceeded } from "../../engines/shared/context-exceeded.ts";
import { type Fault, unsupportedValue } from "../../kernel/faults.ts";
import { forwarderOf } from "../chat-call.ts";

/** Returns the Fault; undefined if the model can serve the request, or does not report its abilities. */
export function checkCapabilities(call: ChatCall, model: ChatModel): Fault | undefined {
  const unsupported = forwarderOf(call, model) === undefined ? call.passThrough?.unsupportedLocally() : undefined;
  if (unsupported !== undefined) return unsupported;
  const tooLong = checkMessageCount(call, model);
  if (tooLong !== undefined) return tooLong;
  const prompt = call.prompts?.[0];
  for (const check of ABILITY_CHECKS) {
    const fault = check({ call, request: call.request, prompt }, model.abilities);
    if (fault !== undefined) return fault;
  }
  if (forwarderOf(call, model) !== undefined) return undefined;
  return checkFiles(call, model) ?? checkContinuation(call, model) ?? model.refusal?.(call.request);
}

function checkContinuation({ request }: ChatCall, { abilities }: ChatModel): Fault | undefined {
  if (request.continuation !== "required" || abilities.continuation === true) return undefined;
  const message =
    "This model always begins a new message: leave out the last one with 'prefix' or 'partial', or 'continue_final_message'.";
  return unsupportedValue(message, `messages[${request.messages.length - 1}]`);
}

/** Checks files, which no local model reads. */
function checkFiles(call: ChatCall, { abilities, device }: ChatModel): Fault | undefined {
  if (abilities.files === true || (abilities.files === undefined && device === "upstream")) return undefined;
  const file = messagesOf(call).flatMap(filesIn)[0];
  if (file === undefined) return undefined;
  const message =
    "This model does not read files: send their text, or use a model of a provider that reads PDF. Text files are read, as data with their type, such as text/plain.";
  return unsupportedValue(message, file.param);
}

/**
 * Checks the number of messages before they are copied to the model's process, which takes seconds for tens of
 * thousands.
 */
function checkMessageCount(call: ChatCall, { contextWindow, maxMessages }: ChatModel): Fault | undefined {
  if (contextWindow === undefined || maxMessages === undefined) return undefined;
  if (messagesOf(call).length <= maxMessages) return undefined;
  return contextExceeded(`at least ${contextWindow}`, contextWindow);
}

/** Returns messages whose texts may be shortened. */
function messagesOf({ request, outline }: ChatCall): readonly ChatMessage[] {
  return outline === undefined ? request.messages : outline().messages;
}

interface Checked {
  call: ChatCall;
  request: ChatRequest;
  prompt: RawPrompt | undefined;
}

type Check = (checked: Checked, abilities: ChatAbilities) => Fault | undefined;

const ABILITY_CHECKS: readonly Check[] = [
  ({ prompt }, abilities) => {
    if (abilities.completions !== false || prompt === undefined) return undefined;
    return unsupportedValue(
      "This model answers messages only: use /v1/chat/completions, or a model with the ability `completions`.",
      "model",
    );
  },
  ({ prompt }, abilities) => {
    if (abilities.infill !== false || prompt?.suffix === undefined) return undefined;
    return unsupportedValue(
      "This model was not trained to fill in the middle: leave out the suffix, or use a model with the ability `infill`.",
      "suffix",
    );
  },
  ({ request: { tools } }, abilities) => {
    if (abilities.tools !== false || tools.length === 0) return undefined;
    return unsupportedValue("This model does not call tools: its chat template has no place for them.", "tools");
  },
  ({ call }, abilities) => {
    if (abilities.tools !== false) return undefined;
    const messages = messagesOf(call);
    const index = messages.findIndex(({ role, toolCalls }) => role === "tool" || toolCalls !== undefined);
    const message = messages[index];
    if (message === undefined) return undefined;
    const field = message.role === "tool" ? "role" : "tool_calls";
    const text = "This model does not call tools, so it cannot read tool calls or their results.";
    return unsupportedValue(text, `messages[${index}].${field}`);
  },
  ({ request: { format } }, abilities) => {
    if (abilities.jsonSchema !== false || format.type === "text") return undefined;
    return unsupportedValue("This model cannot guarantee JSON output; it answers with plain text.", "response_format");
  },
  ({ request: { topLogprobs } }, abilities) => {
    if (abilities.logprobs !== false || topLogprobs === undefined) return undefined;
    return unsupportedValue("This model does not report log probabilities.", "logprobs");
  },
  ({ call }, abilities) => {
    if (abilities.vision !== false) return undefined;
    const image = messagesOf(call).flatMap(imagesIn)[0];
    if (image === undefined) return undefined;
    return unsupportedValue(
      "This model reads text only: leave out the image, or use a model with vision.",
      image.param.type,
    );
  },
  ({ request: { choices } }, abilities) => {
    const limit = abilities.choices;
    if (limit === undefined || choices <= limit) return undefined;
    const answers = limit === 1 ? "one answer" : `at most ${limit} answers`;
    return unsupportedValue(`This model gives ${answers} to a request, not ${choices}.`, "n");
  },
  ({ request: { reasoningEffort } }, abilities) => {
    if (abilities.reasoning !== false || reasoningEffort === undefined || reasoningEffort === "none") return undefined;
    const text = "This model does not reason before it answers; the only effort it supports is 'none'.";
    return unsupportedValue(text, "reasoning_effort");
  },
];
