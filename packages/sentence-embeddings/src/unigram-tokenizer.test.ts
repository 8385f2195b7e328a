import { expect, test } from "vitest";
import { expectWithin } from "../../../test/support/timing.ts";
import { PIECES, packedModel } from "../test/small-packed-model.ts";
import { UnknownTokenError } from "./errors.ts";
import { readPackedModel } from "./packed-model.ts";
import { UnigramTokenizer } from "./unigram-tokenizer.ts";

const tokenizer = new UnigramTokenizer(readPackedModel(packedModel()).vocabulary);
const piecesOf = (text: string) => [...tokenizer.encodePieces(text)].flat().map((id) => PIECES[id]?.[0]);

test.each([
  ["the cat", ["▁the", "▁cat"]],
  ["  the   cats ", ["▁the", "▁cat", "s"]],
  ["the\u00a0cat", ["▁the", "▁cat"]],
  ["ｔhe", ["▁the"]],
  ["stra\u1e9ee", ["▁straße"]],
  ["猫猫", ["▁", "猫", "猫"]],
  ["the 😀", ["▁the", "▁", "<unk>"]],
  ["<s>", ["▁", "<unk>", "s", "<unk>"]],
  ["", []],
])("divides %j into its most probable pieces", (text, pieces) => {
  expect(piecesOf(text)).toEqual(pieces);
});

test("adds and removes special tokens", () => {
  expect(tokenizer.addSpecialTokens([5, 6])).toEqual([0, 5, 6, 2]);
  expect(tokenizer.stripSpecialTokens([0, 5, 6, 2], 0)).toEqual([5, 6]);
  expect(() => tokenizer.stripSpecialTokens([5, 99], 3)).toThrow(UnknownTokenError);
});

test("tokenizes a long text in linear time", () => {
  const started = performance.now();
  expect([...tokenizer.encodePieces("the cats ".repeat(20_000))].flat()).toHaveLength(60_000);
  expectWithin(started, 5_000);
});
