/** Finds the fields of a chat request that no local model supports, before a model is selected. */

import { type Fault, invalidRequest, unsupportedValue } from "../../../kernel/faults.ts";
import { fieldsOfUpstreams } from "../../upstream-fields.ts";
import { type FieldRules, firstRefusedField, type UnknownFieldsPolicy, unknownFieldsOf } from "../unknown-fields.ts";
import type { ChatCompletionBody } from "./chat-body.ts";
import { unsupportedContinuation } from "./chat-continuation.ts";
import {
  FIELDS_WITHOUT_EFFECT,
  KNOWN_FIELDS,
  MESSAGE_FIELDS,
  UNSUPPORTED_FIELDS,
  UNSUPPORTED_MESSAGE_FIELDS,
} from "./chat-fields.ts";
import { unsupportedConstraint } from "./chat-format.ts";
import { isFunctionCall, isReadableFile, type Message } from "./chat-messages.ts";
import { isFunctionTool, isKnownChoice } from "./chat-tools.ts";

const RULES = { known: [...KNOWN_FIELDS, ...FIELDS_WITHOUT_EFFECT], unsupported: UNSUPPORTED_FIELDS };
const IGNORING: FieldRules = { ...RULES, policy: "ignore" };
const REFUSING: FieldRules = { ...RULES, policy: "refuse" };

/** Returns the Fault for the first field that local models do not support; undefined without one. */
export function firstUnsupportedField(body: ChatCompletionBody, policy: UnknownFieldsPolicy): Fault | undefined {
  return (
    firstRefusedField(body, policy === "ignore" ? IGNORING : REFUSING) ??
    unsupportedInFormat(body) ??
    unsupportedInTools(body) ??
    unsupportedContinuation(body) ??
    unsupportedInMessages(body.messages, policy)
  );
}

/** Returns the names of fields that a local model ignores, those of messages as `messages[].name`. */
export function ignoredFields(body: ChatCompletionBody, isUpstream: boolean): string[] {
  const ignored = unknownFieldsOf(body, KNOWN_FIELDS).filter((field) => !Object.hasOwn(UNSUPPORTED_FIELDS, field));
  if (!isUpstream) ignored.push(...fieldsOfUpstreams(body));

  const ofMessages = new Set<string>();
  for (const message of body.messages) {
    for (const field of unknownMessageFields(message)) ofMessages.add(`messages[].${field}`);
  }
  return [...ignored, ...ofMessages];
}

/** Known keys of `response_format`, including those of a flat schema envelope. */
const FORMAT_FIELDS: ReadonlySet<string> = new Set(["type", "json_schema", "schema", "name", "description", "strict"]);

function unsupportedInFormat({
  response_format: format = { type: "text" },
  structured_outputs: outputs,
}: ChatCompletionBody): Fault | undefined {
  const constraint = outputs && unsupportedConstraint(outputs);
  if (constraint !== undefined) {
    const name = constraint.slice(0, 100);
    const message = `This model does not support '${name}' in structured_outputs: send a JSON schema as 'json'.`;
    return unsupportedValue(message, `structured_outputs.${name}`);
  }
  const field = Object.keys(format).find(
    (each) => !FORMAT_FIELDS.has(each) && format[each] !== undefined && format[each] !== null,
  );
  if (field === undefined) return undefined;
  return unsupportedValue(`This model does not support '${field}' in response_format.`, `response_format.${field}`);
}

function unsupportedInTools({ tools = [], tool_choice: choice }: ChatCompletionBody): Fault | undefined {
  const index = tools.findIndex((tool) => !isFunctionTool(tool));
  if (index >= 0) {
    const message = `This model's tools are functions, not of the type '${tools[index]?.type}'.`;
    return unsupportedValue(message, `tools[${index}].type`);
  }
  if (choice === undefined || typeof choice === "string" || isKnownChoice(choice)) return undefined;
  return unsupportedValue(`This model does not know the tool choice '${choice.type}'.`, "tool_choice.type");
}

function unsupportedInMessages(messages: readonly Message[], policy: UnknownFieldsPolicy): Fault | undefined {
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`;
    const fault = unsupportedInMessage(message, path, policy) ?? unsupportedInCalls(message, path);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

const READABLE: ReadonlySet<string> = new Set(["text", "image_url"]);

function unsupportedInMessage(message: Message, path: string, policy: UnknownFieldsPolicy): Fault | undefined {
  if (message.role === "function") {
    const why = "the role 'tool' has taken its place";
    return unsupportedValue(`This model does not support messages with the role 'function': ${why}.`, `${path}.role`);
  }
  if (Array.isArray(message.content)) {
    const index = message.content.findIndex((each) => !READABLE.has(each.type) && !isReadableFile(each));
    const part = message.content[index];
    if (part !== undefined) {
      const param = `${path}.content[${index}].type`;
      return unsupportedValue(`This model does not take parts of the type '${part.type}'.`, param);
    }
  }
  const field = unknownMessageFields(message).find(
    (each) => policy === "refuse" || UNSUPPORTED_MESSAGE_FIELDS.has(each),
  );
  if (field === undefined) return undefined;
  return unsupportedValue(`This model does not support '${field}' in a message.`, `${path}.${field}`);
}

function unknownMessageFields(message: Message): string[] {
  return Object.entries(message).flatMap(([field, value]) => {
    const isEmpty =
      value === undefined || value === null || value === false || (Array.isArray(value) && value.length === 0);
    return isEmpty || MESSAGE_FIELDS["*"]?.has(field) || MESSAGE_FIELDS[message.role]?.has(field) ? [] : [field];
  });
}

function unsupportedInCalls(message: Message, path: string): Fault | undefined {
  if (message.role !== "assistant") return undefined;
  for (const [index, call] of (message.tool_calls ?? []).entries()) {
    const param = `${path}.tool_calls[${index}]`;
    if (!isFunctionCall(call)) {
      return unsupportedValue(`This model's tools are functions, not of the type '${call.type}'.`, `${param}.type`);
    }
    if (isObjectText(call.function.arguments)) continue;
    const message = "This model reads a call's arguments as a JSON object, and this text is not one.";
    return invalidRequest(message, `${param}.function.arguments`, "invalid_value");
  }
  return undefined;
}

function isObjectText(text: string): boolean {
  if (text === "") return true;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value);
  } catch {
    return false;
  }
}
