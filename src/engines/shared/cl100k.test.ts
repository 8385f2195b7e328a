import { Tiktoken } from "js-tiktoken/lite";
import ranks from "js-tiktoken/ranks/cl100k_base";
import { expect, test } from "vitest";
import { decodeCl100k } from "./cl100k.ts";

test.each(["Hello there", "Ünïcode, 日本語 and 😀", "  two  spaces\n\n", "<|endoftext|>"])("decodes %j", (text) => {
  expect(decodeCl100k(new Tiktoken(ranks).encode(text, "all"), 0)).toBe(text);
});

test.each([100_256, 100_277, 2 ** 31 - 1])("rejects the unassigned id %i, naming its place", (id) => {
  expect(() => decodeCl100k([1, id], 3)).toThrow(`input 3 at position 1: ${id}`);
});
