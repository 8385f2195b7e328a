/** `truncation: auto`: leaves out the oldest items of a prompt that does not fit the model's context window. */

import { type InputItem, type Prompt, typeOf } from "./responses-input.ts";

/** Part of the prompt's size that remains: small enough for few attempts, large enough to use most of the window. */
const REMAINING = 0.75;

/**
 * Returns the prompt without its oldest items, system and developer messages excepted; undefined when nothing more can be
 * left out. Of the last turn, only earlier calls are left out, such as those of a long loop of tools. Results go with
 * their calls, and calls with the reasoning before them.
 */
export function withoutOldest({ context, input }: Prompt): Prompt | undefined {
  const newItems: readonly InputItem[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const items = [...context, ...newItems];
  const sizes = items.map((item) => JSON.stringify(item).length);
  const total = sizes.reduce((sum, each) => sum + each, 0);
  const minSize = total * (1 - REMAINING);
  const tail = lastTurnOf(items);
  const earlier = oldestOf(items, sizes, { from: 0, to: tail, minSize });
  const dropped = earlier.size > 0 ? earlier : oldestOf(items, sizes, { from: tail, to: newestStepOf(items), minSize });
  if (dropped.size === 0) return undefined;
  const callIds = new Set([...dropped].filter((item) => !isResult(item)).map(callIdOf));
  const isLeft = (item: InputItem) => !dropped.has(item) && !(isResult(item) && callIds.has(callIdOf(item)));
  return { context: [], input: items.filter(isLeft) };
}

/** Returns the first items of a part of the prompt that together have a size; whole steps of the model. */
function oldestOf(
  items: readonly InputItem[],
  sizes: readonly number[],
  { from, to, minSize }: { from: number; to: number; minSize: number },
): Set<InputItem> {
  const oldest = new Set<InputItem>();
  const lastUser = items.findLastIndex(isUserMessage);
  let size = 0;
  for (let index = from; index < to; index += 1) {
    const item = items[index] as InputItem;
    if (isInstruction(item) || index === lastUser) continue;
    if (size >= minSize && startsStep(item, items[index - 1])) break;
    oldest.add(item);
    size += sizes[index] ?? 0;
  }
  return oldest;
}

/** Whether an item belongs to no reasoning or parallel call before it. */
function startsStep(item: InputItem, before: InputItem | undefined): boolean {
  if (before === undefined) return true;
  const isCall = (each: InputItem) => typeOf(each).endsWith("_call");
  return typeOf(before) !== "reasoning" && !(isCall(item) && isCall(before));
}

/** Returns the index from which items are new: the last messages of the user, or the last results with their calls. */
export function newestOf(items: readonly InputItem[]): number {
  const isNewest = items.at(-1) !== undefined && isResult(items.at(-1) as InputItem) ? isResult : isUserMessage;
  const first = items.findLastIndex((item) => !isNewest(item)) + 1;
  return firstCallOf(items, first);
}

/** Like `newestOf`, with the reasoning before the calls. */
function newestStepOf(items: readonly InputItem[]): number {
  let first = newestOf(items);
  while (first > 0 && typeOf(items[first - 1] as InputItem) === "reasoning") first -= 1;
  return first;
}

/** Returns the index of the last message of the user, or of the calls whose results come last. */
function lastTurnOf(items: readonly InputItem[]): number {
  const message = items.findLastIndex(isUserMessage);
  const first = message === -1 ? items.length - 1 : message;
  return firstCallOf(items, first);
}

/** Returns the index of the first call whose result is at `first` or later, or `first`. */
function firstCallOf(items: readonly InputItem[], first: number): number {
  const results = new Set(items.slice(first).filter(isResult).map(callIdOf));
  const call = items.findIndex((item) => !isResult(item) && results.has(callIdOf(item)));
  return call === -1 ? first : Math.min(call, first);
}

export function isInstruction(item: InputItem): boolean {
  return typeOf(item) === "message" && (item.role === "system" || item.role === "developer");
}

function isUserMessage(item: InputItem): boolean {
  return typeOf(item) === "message" && item.role === "user";
}

function isResult(item: InputItem): boolean {
  return typeOf(item).endsWith("_output");
}

/** Items without a call have an ID that no call has. */
function callIdOf(item: InputItem): unknown {
  return item.call_id ?? (typeOf(item) === "local_shell_call_output" ? item.id : item);
}
