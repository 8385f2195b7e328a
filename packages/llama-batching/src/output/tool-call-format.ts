/** Detects how a model writes tool calls from its chat template. */

import type { ChatTemplate } from "../prompts/chat-template.ts";
import type { ReasoningTags } from "../prompts/reasoning-tags.ts";
import type { PromptMessage } from "../types.ts";
import { detectTaggedArguments, type TaggedArguments, type TaggedCall } from "./tagged-arguments.ts";

/**
 * `trigger` `open` name `afterName` arguments (`between` name `afterName` arguments)… `close`, where arguments are one
 * JSON object. The texts contain `CALL_ID` in place of a call's ID and `CALL_INDEX` in place of its index.
 */
export interface ToolCallFormat {
  /** Text that begins a call. */
  trigger: string;
  /** Text between the trigger and the name. */
  open: string;
  afterName: string;
  /** Undefined: one call only. */
  between: string | undefined;
  close: string;
  /** How arguments are written that are not one JSON object. */
  tagged?: TaggedArguments;
}

export const CALL_ID = "\uE001";
export const CALL_INDEX = "\uE002";

const NAMES = ["needle_first", "needle_second"] as const;
const IDS = ["needleId1", "needleId2"] as const;
const VALUE = "needle value";
/** In the order of the alphabet, in which some templates write them. */
const TAGGED = { names: ["needle_key", "needle_number"], values: [VALUE, "73019"] } as const;
const TEXT = "\u2603 needle text \u2603";
const TOOLS = NAMES.map((name) => ({
  name,
  description: "A function.",
  parameters: {
    type: "object",
    properties: { key: { type: "string", description: "A key." } },
    required: ["key"],
  },
}));

/**
 * Returns undefined when the template has no place for tools, or writes arguments neither as JSON nor with tags. Sets
 * `template.argumentsAsText`. `endTexts` end an answer and `reasoning` precedes it; neither is part of a call.
 */
export function detectToolCallFormat(
  template: ChatTemplate,
  endTexts: readonly string[],
  reasoning: ReasoningTags | undefined,
): ToolCallFormat | undefined {
  if (!template.variables.has("tools")) return undefined;
  template.argumentsAsText = false;
  const withObject = renderAnswer(template, exampleCalls(1));
  // If the value is shown for an object, but not as JSON, the template writes another notation.
  template.argumentsAsText = !withObject?.includes(VALUE);
  const text = renderAnswer(template, { role: "assistant", content: TEXT });
  const one = renderAnswer(template, exampleCalls(1));
  if (text === undefined || one === undefined) return undefined;
  const ending = text.slice(text.indexOf(TEXT) + TEXT.length);
  const answer = generatedPart(one, text, reasoning);
  const first = findCall(answer, 0);
  if (first === undefined) return detectTagged(template, { text, ending, endTexts, reasoning });
  const opening = maskIds(answer.slice(0, first.nameAt));
  const trigger = triggerOf(opening);
  if (trigger === "") return undefined;
  const two = renderAnswer(template, exampleCalls(2));
  const next = two === undefined ? undefined : nextCall(generatedPart(two, text, reasoning), opening);
  return {
    trigger,
    open: opening.slice(trigger.length),
    afterName: next?.afterName ?? maskIds(answer.slice(first.nameAt + NAMES[0].length, first.argumentsAt)),
    between: next?.between,
    close: maskIds(trimEnding(answer.slice(first.end), ending, endTexts)),
  };
}

interface PlainAnswer {
  /** Rendered answer without a call, and what follows its text. */
  text: string;
  ending: string;
  endTexts: readonly string[];
  reasoning: ReasoningTags | undefined;
}

/** Calls whose arguments are written one by one. */
function detectTagged(template: ChatTemplate, plain: PlainAnswer): ToolCallFormat | undefined {
  const [key, number] = TAGGED.names;
  const render = (count: number, value: object) => {
    const rendered = renderAnswer(template, exampleCalls(count, value));
    return rendered === undefined ? "" : generatedPart(rendered, plain.text, plain.reasoning);
  };
  const one = render(1, { [key]: VALUE });
  const opening = one.slice(0, Math.max(0, one.indexOf(NAMES[0])));
  const afterName = (answer: string) =>
    answer.startsWith(opening + NAMES[0])
      ? trimEnding(answer.slice(opening.length + NAMES[0].length), plain.ending, plain.endTexts)
      : "";
  const both = render(1, { [key]: VALUE, [number]: Number(TAGGED.values[1]) });
  const call = detectTaggedArguments({ ...TAGGED, text: afterName(both), withOne: afterName(one) });
  const trigger = triggerOf(opening);
  // Some templates write the name or the type of an argument around its value.
  const list = render(1, { [key]: VALUE, [number]: [Number(TAGGED.values[1])] });
  if (call === undefined || trigger === "" || !list.includes(`${number}${call.tags.other.afterName}[`))
    return undefined;
  if (JSON.stringify(call).includes(key)) return undefined;
  return {
    trigger,
    open: opening.slice(trigger.length),
    afterName: call.afterName,
    between: betweenTagged(render(2, { [key]: VALUE }), call),
    close: call.close,
    tagged: call.tags,
  };
}

function betweenTagged(answer: string, { textEnd }: TaggedCall): string | undefined {
  const end = answer.indexOf(VALUE + textEnd);
  const nextAt = answer.indexOf(NAMES[1]);
  return end >= 0 && nextAt > end ? answer.slice(end + VALUE.length + textEnd.length, nextAt) : undefined;
}

/** The part of a rendered call that the model writes. */
function generatedPart(rendered: string, text: string, reasoning: ReasoningTags | undefined): string {
  const answer = rendered.slice(beforeTag(rendered, commonPrefixLength(text, rendered)));
  const reasoningEnd = reasoning === undefined ? -1 : answer.indexOf(reasoning.close);
  const isBeforeCall = reasoning !== undefined && reasoningEnd >= 0 && reasoningEnd < answer.indexOf(NAMES[0]);
  return (isBeforeCall ? answer.slice(reasoningEnd + reasoning.close.length) : answer).trimStart();
}

/** What precedes a further call and follows its name, which can have the call's index. */
function nextCall(answer: string, opening: string): { between: string; afterName: string } | undefined {
  const [first, second] = [findCall(answer, 0), findCall(answer, 1)];
  if (first === undefined || second === undefined || second.nameAt < first.end) return undefined;
  const afterNameOf = (call: FoundCall, index: number) =>
    maskIds(answer.slice(call.nameAt + (NAMES[index] as string).length, call.argumentsAt));
  const afterName = maskIndex(afterNameOf(first, 0), afterNameOf(second, 1));
  if (afterName === undefined || maskIds(answer.slice(0, first.nameAt)) !== opening) return undefined;
  return { between: maskIds(answer.slice(first.end, second.nameAt)), afterName };
}

/** Replaces numbers that are one more in the second text. Undefined: the texts differ in something else. */
function maskIndex(first: string, second: string): string | undefined {
  const [pieces, others] = [first.split(/(\d+)/), second.split(/(\d+)/)];
  const masked = pieces.map((piece, index) => {
    if (piece === others[index]) return piece;
    return /^\d+$/.test(piece) && Number(others[index]) === Number(piece) + 1 ? CALL_INDEX : undefined;
  });
  return pieces.length === others.length && !masked.includes(undefined) ? masked.join("") : undefined;
}

interface FoundCall {
  nameAt: number;
  argumentsAt: number;
  end: number;
}

function findCall(answer: string, index: number): FoundCall | undefined {
  const name = NAMES[index] as string;
  const nameAt = answer.indexOf(name);
  for (const separator of [": ", ":"]) {
    const written = `{"key"${separator}"${VALUE}"}`;
    const argumentsAt = answer.indexOf(written, nameAt);
    if (nameAt >= 0 && argumentsAt >= 0) return { nameAt, argumentsAt, end: argumentsAt + written.length };
  }
  return undefined;
}

function exampleCalls(count: number, value: object = { key: VALUE }): PromptMessage {
  const toolCalls = NAMES.slice(0, count).map((name, index) => ({
    id: IDS[index] as string,
    name,
    arguments: JSON.stringify(value),
  }));
  return { role: "assistant", content: "", toolCalls };
}

function renderAnswer(template: ChatTemplate, answer: PromptMessage): string | undefined {
  try {
    return template.render({ messages: [{ role: "user", content: "Hi" }, answer], tools: TOOLS, forAnswer: false });
  } catch {
    return undefined;
  }
}

function maskIds(text: string): string {
  return IDS.reduce((rest, id) => rest.replaceAll(id, CALL_ID), text);
}

/** Removes the end of the turn, which the model samples as a separate token. */
function trimEnding(text: string, ending: string, endTexts: readonly string[]): string {
  const withoutTurnEnd = text.slice(0, beforeTag(text, text.length - commonSuffixLength(text, ending)));
  const tags = text.slice(withoutTurnEnd.length);
  // A suffix shared with the end of a turn may begin within a tag, such as `|>`, which then belongs to the call.
  const turnEnd = ending.includes(tags) ? withoutTurnEnd : withoutTurnEnd + (/^<[^<>]*>/.exec(tags)?.[0] ?? "");
  const endText = endTexts.find((end) => end !== "" && turnEnd.trimEnd().endsWith(end));
  return endText === undefined ? turnEnd : turnEnd.slice(0, turnEnd.lastIndexOf(endText));
}

/** `at`, or the beginning of the tag that contains it. */
function beforeTag(text: string, at: number): number {
  const start = text.lastIndexOf("<", at - 1);
  return start >= 0 && !/[>\s]/.test(text.slice(start, at)) ? start : at;
}

function commonSuffixLength(text: string, ending: string): number {
  for (let length = Math.min(ending.length, text.length); length > 0; length--) {
    if (text.endsWith(ending.slice(-length))) return length;
  }
  return 0;
}

function commonPrefixLength(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** A tag such as `<tool_call>`; otherwise a text that plain answers hardly begin with. */
function triggerOf(opening: string): string {
  return /^(?:<[^<>\s]+>|\[[A-Z_]+\]|[{[]|[^\s{["]+)/.exec(opening)?.[0] ?? "";
}
