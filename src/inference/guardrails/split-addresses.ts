/** Addresses that begin in one text of a request and end in another: parts of a message, or messages. */

import type { Match } from "@parlance-inference/text-privacy/match";
import type { ChannelText } from "./channels.ts";

/** An address from an offset in one text to an offset in a later one. */
export interface SplitAddress {
  type: string;
  value: string;
  from: { index: number; start: number };
  to: { index: number; end: number };
}

type Find = (text: string) => readonly Match[];

/** Longest beginning and end of an address, with markup. */
const MAX_BEGINNING = 320;
const MAX_END = 255;
/** The sign has to be in the first text: one that begins with a sign mentions somebody or a file. */
const BEGINNING = /[^\s@]@(?:[*_~`\s]{0,8}|[\p{L}\p{N}.-]{1,253})$/u;
const END = /^[*_~`\s]{0,8}[\p{L}\p{N}.-]{1,255}/u;

/** Finds addresses that no text has alone. */
export function findSplitAddresses(inputs: readonly ChannelText[], find: Find): SplitAddress[] {
  return inputs.flatMap((input, index) => {
    const text = proseOf(input);
    const tail = text.slice(-MAX_BEGINNING);
    if (!BEGINNING.test(tail) || find(tail).some(({ end }) => end === tail.length)) return [];
    const heads: { index: number; start: number }[] = [];
    let joined = tail;
    for (let next = index + 1; next < inputs.length && joined.length < tail.length + MAX_END; next += 1) {
      const following = proseOf(inputs[next]);
      const head = END.exec(following)?.[0] ?? "";
      if (head !== "") heads.push({ index: next, start: joined.length });
      joined += head;
      if (head.length < following.length) break;
    }
    const match = find(joined).find(({ type, start, end }) => {
      return type === "EMAIL_ADDRESS" && start < tail.length && end > tail.length;
    });
    const last = heads.findLast(({ start }) => start < (match?.end ?? 0));
    if (match === undefined || last === undefined) return [];
    const { type, start, end } = match;
    return {
      ...{ type, value: joined.slice(start, end) },
      from: { index, start: text.length - tail.length + start },
      to: { index: last.index, end: end - last.start },
    };
  });
}

function proseOf(input: ChannelText | undefined): string {
  return input?.kind === "prompt" || input?.kind === "instructions" ? input.text : "";
}

/** Returns the texts with a placeholder where each address begins, and without the rest of it. */
export function hideSplitAddresses(
  inputs: readonly ChannelText[],
  addresses: readonly SplitAddress[],
  placeholderOf: (address: SplitAddress) => string,
): string[] {
  const output = inputs.map(({ text }) => text);
  // From the last one, so that the offsets before it stay.
  for (const address of addresses.toReversed()) {
    const { from, to } = address;
    const placeholder = placeholderOf(address);
    output[from.index] = (output[from.index] ?? "").slice(0, from.start) + placeholder;
    for (let index = from.index + 1; index <= to.index; index += 1) {
      if (proseOf(inputs[index]) === "") continue;
      const rest = index < to.index ? "" : (output[index] ?? "").slice(to.end);
      // Providers refuse empty texts.
      output[index] = rest === "" ? placeholder : rest;
    }
  }
  return output;
}
