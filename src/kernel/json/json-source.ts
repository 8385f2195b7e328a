/**
 * Bytes of parsed JSON objects, to pass them on without writing them again. They belong to one object: a changed body is
 * another object and has none.
 */

import type { JsonScan } from "./scan-json.ts";

/** A JSON object as it came. */
export interface JsonSource {
  bytes: Uint8Array;
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
export function toSource(bytes: Buffer, value: unknown, { members, keyCount }: JsonScan): JsonSource | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  return members.length % 4 === 0 && countKeys(value) === keyCount ? { bytes, members } : undefined;
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
export function replaceMembers({ bytes, members }: JsonSource, replacements: Readonly<Record<string, string>>): Buffer {
  const json = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const remaining = new Map(Object.entries(replacements));
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let place = 0; place < members.length && remaining.size > 0; place += 4) {
    const [keyStart, keyEnd, start, end] = members.slice(place, place + 4) as [number, number, number, number];
    const name = keyIn(json, keyStart, keyEnd);
    const replacement = remaining.get(name);
    if (replacement === undefined) continue;
    remaining.delete(name);
    parts.push(json.subarray(from, start), Buffer.from(replacement));
    from = end;
  }
  if (remaining.size > 0) {
    const close = json.lastIndexOf("}");
    const added = [...remaining].map(([name, value]) => `${JSON.stringify(name)}:${value}`).join();
    parts.push(json.subarray(from, close), Buffer.from(members.length === 0 ? added : `,${added}`));
    from = close;
  }
  return Buffer.concat([...parts, json.subarray(from)]);
}

function keyIn(json: Buffer, start: number, end: number): string {
  const key = json.toString("utf8", start, end);
  return key.includes("\\") ? JSON.parse(`"${key}"`) : key;
}
