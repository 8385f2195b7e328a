/**
 * Bytes of parsed JSON objects, to pass them on without writing them again. They belong to one object: a changed body is
 * another object and has none.
 */

import { byteLength, chunksText, sliceChunks } from "./chunks.ts";
import type { JsonScan } from "./scan-json.ts";

/** A JSON object as it came. */
export interface JsonSource {
  chunks: readonly Uint8Array[];
  /** Positions of each member: start and end of the key, without its quotes, and start and end of the value. */
  members: readonly number[];
}

const sources = new WeakMap<object, JsonSource>();

export function sourceOf(value: object): JsonSource | undefined {
  return sources.get(value);
}

/** Keeps the source of an object with the same content. */
export function keepSource(value: unknown, source: JsonSource | undefined): void {
  if (source !== undefined) sources.set(value as object, source);
}

/**
 * Returns the source of a parsed object; undefined where other parsers could read the bytes differently: with a key that
 * stands twice in an object, of which some take the first value.
 */
export function toSource(
  chunks: readonly Uint8Array[],
  value: unknown,
  { members, keyCount }: JsonScan,
): JsonSource | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return members.length % 4 === 0 && countKeys(value) === keyCount ? { chunks, members } : undefined;
}

function countKeys(value: object): number {
  let count = 0;
  if (Array.isArray(value)) {
    for (const item of value) if (typeof item === "object" && item !== null) count += countKeys(item);
    return count;
  }
  for (const key in value) {
    count += 1;
    const item = (value as Record<string, unknown>)[key];
    if (typeof item === "object" && item !== null) count += countKeys(item);
  }
  return count;
}

/** Returns the bytes with these members, in JSON, in place of those of the same name, or after the others. */
export function replaceMembers(source: JsonSource, replacements: Readonly<Record<string, string>>): Uint8Array[] {
  const { chunks, members } = source;
  const remaining = new Map(Object.entries(replacements));
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let place = 0; place < members.length && remaining.size > 0; place += 4) {
    const name = keyAt(source, place);
    const replacement = remaining.get(name);
    if (replacement === undefined) continue;
    remaining.delete(name);
    parts.push(...sliceChunks(chunks, from, members[place + 2] ?? 0), Buffer.from(replacement));
    from = members[place + 3] ?? 0;
  }
  const end = byteLength(chunks);
  if (remaining.size > 0) {
    const close = lastBrace(source, end);
    const added = [...remaining].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join();
    parts.push(...sliceChunks(chunks, from, close), Buffer.from(members.length === 0 ? added : `,${added}`));
    from = close;
  }
  parts.push(...sliceChunks(chunks, from, end));
  return parts;
}

/** Returns the positions of a member's value; undefined without the member. */
export function placeOf(source: JsonSource, name: string): { start: number; end: number } | undefined {
  const { members } = source;
  for (let place = 0; place < members.length; place += 4) {
    if (keyAt(source, place) === name) return { start: members[place + 2] ?? 0, end: members[place + 3] ?? 0 };
  }
  return undefined;
}

/** Returns the position of the bracket that ends the object, which only white space follows. */
function lastBrace({ chunks, members }: JsonSource, end: number): number {
  const start = members.at(-1) ?? 0;
  return start + chunksText(chunks, start, end).lastIndexOf("}");
}

function keyAt({ chunks, members }: JsonSource, place: number): string {
  const key = chunksText(chunks, members[place] ?? 0, members[place + 1] ?? 0);
  return key.includes("\\") ? JSON.parse(`"${key}"`) : key;
}
