import { expect, test } from "vitest";
import { CONFIG, TOKENIZER, VOCABULARY } from "../test/small-encoder.ts";
import { UnknownTokenError } from "./errors.ts";
import { SentenceTokenizer } from "./sentence-tokenizer.ts";

const tokenizer = new SentenceTokenizer(TOKENIZER, CONFIG);
const idOf = (token: keyof typeof VOCABULARY) => VOCABULARY[token];
const [BEGIN, END] = [idOf("[CLS]"), idOf("[SEP]")];
const encode = (text: string) => [...tokenizer.encodePieces(text)].flat();

test("splits words into pieces of the vocabulary, without special tokens", () => {
  expect(encode("The cat sat.")).toEqual([idOf("the"), idOf("cat"), idOf("sat"), idOf(".")]);
  expect(encode("cats")).toEqual([idOf("cat"), idOf("##s")]);
  expect(encode("zebra")).toEqual([idOf("[UNK]")]);
  expect(encode("")).toEqual([]);
});

test("tokenizes a long text like its parts", () => {
  const sentence = "the cats sat . ";
  const times = 2000;
  const expected = Array.from({ length: times }, () => encode(sentence)).flat();
  expect(encode(sentence.repeat(times))).toEqual(expected);
});

test("yields a long text in pieces, also without white space", () => {
  const counts = (text: string) => [...tokenizer.encodePieces(text)].map(({ length }) => length);
  expect(counts("cat ".repeat(2500))).toEqual([1001, 1000, 499]);
  expect(counts("\u732b".repeat(10_000)).length).toBeGreaterThan(1);
});

test("removes the special tokens around a caller's IDs, but none within them", () => {
  const ids = [idOf("the"), END, idOf("cat")];
  expect(tokenizer.stripSpecialTokens([BEGIN, ...ids, END], 0)).toEqual(ids);
  expect(tokenizer.stripSpecialTokens(ids, 0)).toEqual(ids);
  expect(tokenizer.stripSpecialTokens([BEGIN], 0)).toEqual([]);
  expect(tokenizer.stripSpecialTokens([], 0)).toEqual([]);
  expect(tokenizer.addSpecialTokens(ids)).toEqual([BEGIN, ...ids, END]);
});

test.each([[-1], [tokenizer.vocabularySize], [1.5], [Number.NaN]])("rejects the token ID %d", (id) => {
  const strip = () => tokenizer.stripSpecialTokens([BEGIN, idOf("the"), id], 3);
  expect(strip).toThrow(UnknownTokenError);
  expect(strip).toThrow(expect.objectContaining({ input: 3, position: 2, id }));
});
