/** How a model writes calls of tools, as its chat template shows it. */

import type { ChatMessage } from "../chat-model.ts";
import type { ChatTemplate } from "./chat-template.ts";
import type { ReasoningMarks } from "./reasoning-marks.ts";

/**
 * `open` name `afterName` arguments (`between` name `afterName` arguments)… `close`, the arguments one JSON object.
 * Wherever a call's own id belongs, the texts hold `CALL_ID`.
 */
export interface ToolCallFormat {
  /** What an answer's text turns into a call with; an end of it is the rest of `open`. */
  mark: string;
  /** What follows the mark up to the name. */
  open: string;
  afterName: string;
  /** Undefined: one call only. */
  between: string | undefined;
  close: string;
}

export const CALL_ID = "\uE001";
/** As long as the one family of models wants ids that checks them. */
export const CALL_ID_LENGTH = 9;

const NAMES = ["needle_first", "needle_second"] as const;
const IDS = ["needleId1", "needleId2"] as const;
const VALUE = "needle value";
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
 * Undefined where the template shows no tools, or calls whose arguments are no JSON. Finds out how it wants arguments.
 * `endTexts` end an answer, `thinking` comes before one; neither is part of a call.
 */
export function toolCallFormatOf(
  template: ChatTemplate,
  endTexts: readonly string[],
  thinking: ReasoningMarks | undefined,
): ToolCallFormat | undefined {
  if (!template.variables.has("tools")) return undefined;
  template.argumentsAsText = false;
  const withObject = renderAnswer(template, callsOf(1));
  // Where an object's value appears but not as JSON, calls are written in a notation of the model's own.
  template.argumentsAsText = !withObject?.includes(VALUE);
  const text = renderAnswer(template, { role: "assistant", content: TEXT });
  const one = renderAnswer(template, callsOf(1));
  if (text === undefined || one === undefined) return undefined;
  const ending = text.slice(text.indexOf(TEXT) + TEXT.length);
  const answer = answerIn(one, text, thinking);
  const first = findCall(answer, 0);
  if (first === undefined) return undefined;
  const opening = withoutIds(answer.slice(0, first.nameAt));
  const mark = markOf(opening);
  if (mark === "") return undefined;
  const two = renderAnswer(template, callsOf(2));
  return {
    mark,
    open: opening.slice(mark.length),
    afterName: withoutIds(answer.slice(first.nameAt + NAMES[0].length, first.argumentsAt)),
    between: two === undefined ? undefined : betweenCalls(answerIn(two, text, thinking), opening),
    close: withoutIds(withoutEnding(answer.slice(first.end), ending, endTexts)),
  };
}

/** What of a rendered call the model writes itself. */
function answerIn(rendered: string, text: string, thinking: ReasoningMarks | undefined): string {
  const answer = rendered.slice(beforeMark(rendered, commonBeginning(text, rendered)));
  const thoughtEnd = thinking === undefined ? -1 : answer.indexOf(thinking.close);
  const isBeforeCall = thinking !== undefined && thoughtEnd >= 0 && thoughtEnd < answer.indexOf(NAMES[0]);
  return (isBeforeCall ? answer.slice(thoughtEnd + thinking.close.length) : answer).trimStart();
}

function betweenCalls(answer: string, opening: string): string | undefined {
  const [first, second] = [findCall(answer, 0), findCall(answer, 1)];
  if (first === undefined || second === undefined || second.nameAt < first.end) return undefined;
  const alike = (call: FoundCall, index: number) =>
    withoutIds(answer.slice(call.nameAt + (NAMES[index] as string).length, call.argumentsAt));
  const isAlike = withoutIds(answer.slice(0, first.nameAt)) === opening && alike(first, 0) === alike(second, 1);
  return isAlike ? withoutIds(answer.slice(first.end, second.nameAt)) : undefined;
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

function callsOf(count: number): ChatMessage {
  const toolCalls = NAMES.slice(0, count).map((name, index) => ({
    id: IDS[index] as string,
    name,
    arguments: JSON.stringify({ key: VALUE }),
  }));
  return { role: "assistant", content: "", toolCalls };
}

function renderAnswer(template: ChatTemplate, answer: ChatMessage): string | undefined {
  try {
    return template.render({ messages: [{ role: "user", content: "Hi" }, answer], tools: TOOLS, forAnswer: false });
  } catch {
    return undefined;
  }
}

function withoutIds(text: string): string {
  return IDS.reduce((rest, id) => rest.replaceAll(id, CALL_ID), text);
}

/** What ends the turn is drawn as a token of its own. */
function withoutEnding(text: string, ending: string, endTexts: readonly string[]): string {
  const withoutTurnEnd = text.slice(0, beforeMark(text, text.length - commonEnd(text, ending)));
  const marks = text.slice(withoutTurnEnd.length);
  // An end shared with the turn's own end may begin within a mark, such as `|>`, which then belongs to the call.
  const kept = ending.includes(marks) ? withoutTurnEnd : withoutTurnEnd + (/^<[^<>]*>/.exec(marks)?.[0] ?? "");
  const endText = endTexts.find((end) => end !== "" && kept.trimEnd().endsWith(end));
  return endText === undefined ? kept : kept.slice(0, kept.lastIndexOf(endText));
}

/** `at`, or where the mark begins that it stands in. */
function beforeMark(text: string, at: number): number {
  const start = text.lastIndexOf("<", at - 1);
  return start >= 0 && !/[>\s]/.test(text.slice(start, at)) ? start : at;
}

function commonEnd(text: string, ending: string): number {
  for (let length = Math.min(ending.length, text.length); length > 0; length--) {
    if (text.endsWith(ending.slice(-length))) return length;
  }
  return 0;
}

function commonBeginning(a: string, b: string): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length += 1;
  return length;
}

/** A word of the format's own, such as `<tool_call>`; else what an answer of plain text would hardly begin with. */
function markOf(opening: string): string {
  return /^(?:<[^<>\s]+>|\[[A-Z_]+\]|[{[]|[^\s{["]+)/.exec(opening)?.[0] ?? "";
}
