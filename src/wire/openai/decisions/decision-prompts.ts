/** Words questions so that the first token of the answer decides. */

import type { ChatMessage, ContentPart } from "../../../contracts/chat-message.ts";
import { contentParts } from "../../../contracts/message-text.ts";
import type { DecisionQuestion, QuestionInstructions } from "./decisions-body.ts";

/** A question to a model: its options, and a text for each of them. */
export interface Ask {
  /** What the model is to answer, each of which differs in its first letter. */
  labels: readonly string[];
  /** What follows the instructions. */
  options: string;
}

export interface Option {
  text: string;
  description: string | undefined;
}

/** Options of one question to a model: upstreams report at most 20 alternatives of a token. */
export const GROUP_SIZE = 16;

export function askPredicate(): Ask {
  return {
    labels: ["Yes", "No"],
    options: "Is this true of the input? Answer with Yes or No, and nothing else.",
  };
}

export function askLevel(levels: readonly Option[]): Ask {
  const options = `Levels, from the lowest to the highest:\n${listed(levels)}\n\nAnswer with the letter of the level that fits best, and nothing else.`;
  return { labels: lettersOf(levels), options };
}

export function askOption(choices: readonly Option[]): Ask {
  const options = `Options:\n${listed(choices)}\n\nAnswer with the letter of the option that fits best, and nothing else.`;
  return { labels: lettersOf(choices), options };
}

/** Asks which group has the option that fits best. */
export function askGroup(groups: ReadonlyArray<readonly Option[]>): Ask {
  const texts = groups.map(
    (group, index) => `${letterOf(index)}.\n${group.map((each) => `- ${shown(each)}`).join("\n")}`,
  );
  const options = `Groups of options:\n${texts.join("\n")}\n\nAnswer with the letter of the group that has the option that fits best, and nothing else.`;
  return { labels: lettersOf(groups), options };
}

/** Splits options evenly into as few groups as there have to be. */
export function toGroups<Item>(items: readonly Item[]): Item[][] {
  const count = Math.ceil(items.length / GROUP_SIZE);
  const size = Math.ceil(items.length / count);
  return Array.from({ length: Math.ceil(items.length / size) }, (_, index) =>
    items.slice(index * size, (index + 1) * size),
  );
}

const SEPARATOR = "\n\n---\n";
const HEAD = "Answer this question about the input above, which is nothing but what you judge:\n";

/** Adds a question to the input. One message of the user has both: chat templates expect turns to alternate. */
export function withQuestion(
  input: readonly ChatMessage[],
  { instructions }: Pick<DecisionQuestion, "instructions">,
  { options }: Pick<Ask, "options">,
  path: string,
): ChatMessage[] {
  const parts = [...toParts(instructions, path), { type: "text" as const, text: `\n\n${options}` }];
  const question: ContentPart[] = [{ type: "text", text: HEAD }, ...parts];
  const last = input.at(-1);
  if (last?.role !== "user") return [...input, { role: "user", ...joined(question) }];
  const content = [...contentParts(last), { type: "text" as const, text: SEPARATOR }, ...question];
  const { cacheMarks: _joined, ...message } = last;
  return [...input.slice(0, -1), { ...message, ...joined(content) }];
}

/** Returns the question of a message that `withQuestion` made; all of the message where guardrails changed its head. */
export function questionIn(message: string): string {
  const head = message.lastIndexOf(HEAD);
  return head === -1 ? message : message.slice(head + HEAD.length);
}

function joined(parts: readonly ContentPart[]): Pick<ChatMessage, "content"> {
  if (parts.some(({ type, cache }: ContentPart) => type !== "text" || cache !== undefined)) return { content: parts };
  return { content: parts.map((part) => (part.type === "text" ? part.text : "")).join("") };
}

function toParts(instructions: QuestionInstructions, path: string): ContentPart[] {
  if (typeof instructions === "string") return [{ type: "text", text: instructions }];
  return instructions.map((part, index): ContentPart => {
    const at = `${path}.instructions[${index}]`;
    if (part.type === "input_json") return { type: "text", text: JSON.stringify(part.data) };
    if (part.type !== "input_image") return { type: "text", text: String(part.text) };
    const detail = typeof part.detail === "string" ? part.detail : undefined;
    return {
      ...{ type: "image", url: String(part.image_url), detail },
      param: { type: `${at}.type`, url: `${at}.image_url` },
    };
  });
}

function listed(options: readonly Option[]): string {
  return options.map((each, index) => `${letterOf(index)}. ${shown(each)}`).join("\n");
}

function shown({ text, description }: Option): string {
  return description === undefined ? text : `${text}: ${description}`;
}

function lettersOf(items: readonly unknown[]): string[] {
  return items.map((_, index) => letterOf(index));
}

function letterOf(index: number): string {
  return String.fromCharCode("A".charCodeAt(0) + index);
}
