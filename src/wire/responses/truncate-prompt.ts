/** `truncation: auto`: leaves out the oldest items of a prompt that does not fit the model's context window. */

import { type InputItem, type Prompt, typeOf } from "./responses-input.ts";

/** Part of the prompt's size that remains: small enough for few attempts, large enough to use most of the window. */
const REMAINING = 0.75;

/**
 * Returns the prompt without its oldest items, system and developer messages excepted; undefined when only the last turn
 * is left. Results go with their calls.
 */
export function withoutOldest({ context, input }: Prompt): Prompt | undefined {
  const newItems: readonly InputItem[] = typeof input === "string" ? [{ role: "user", content: input }] : input;
  const items = [...context, ...newItems];
  const sizes = items.map((item) => JSON.stringify(item).length);
  const tail = lastTurnOf(items);
  let size = sizes.reduce((sum, each) => sum + each, 0);
  const maxSize = REMAINING * size;
  const dropped = new Set<InputItem>();
  for (const [index, item] of items.slice(0, tail).entries()) {
    if (size <= maxSize && dropped.size > 0) break;
    if (isInstruction(item)) continue;
    dropped.add(item);
    size -= sizes[index] ?? 0;
  }
  if (dropped.size === 0) return undefined;
  const callIds = new Set([...dropped].filter((item) => !isResult(item)).map(callIdOf));
  const isLeft = (item: InputItem) => !dropped.has(item) && !(isResult(item) && callIds.has(callIdOf(item)));
  return { context: [], input: items.filter(isLeft) };
}

/** Returns the index from which items are new: the last messages of the user, or the last results with their calls. */
export function newestOf(items: readonly InputItem[]): number {
  const isUser = (item: InputItem) => typeOf(item) === "message" && item.role === "user";
  const isNewest = items.at(-1) !== undefined && isResult(items.at(-1) as InputItem) ? isResult : isUser;
  const first = items.findLastIndex((item) => !isNewest(item)) + 1;
  return firstCallOf(items, first);
}

/** Returns the index of the last message of the user, or of the calls whose results come last. */
function lastTurnOf(items: readonly InputItem[]): number {
  const message = items.findLastIndex((item) => typeOf(item) === "message" && item.role === "user");
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

function isResult(item: InputItem): boolean {
  return typeOf(item).endsWith("_output");
}

/** Items without a call have an ID that no call has. */
function callIdOf(item: InputItem): unknown {
  return item.call_id ?? (typeOf(item) === "local_shell_call_output" ? item.id : item);
}
