import { expect, test } from "vitest";
import type { RewrittenPart } from "../contracts/speech-model.ts";
import { pronounce } from "./pronunciations.ts";

test("replaces whole words in any case, the longest first", () => {
  const words = [
    { text: "Łódź", spoken: "Woodge" },
    { text: "New York", spoken: "the city" },
    { text: "New", spoken: "nu" },
    { text: "C++", spoken: "C plus plus" },
    { text: "$&", spoken: "$1" },
  ];
  expect(pronounce("ŁÓDŹ, new york: New News in C++ (łódź-based) and Łódźian, $&!", words)).toBe(
    "Woodge, the city: nu News in C plus plus (Woodge-based) and Łódźian, $1!",
  );
});

test("says which parts of the text are spoken otherwise than they are written", () => {
  const words = [
    { text: "Łódź", spoken: "Woodge" },
    { text: "a", spoken: "a" },
    { text: "it", spoken: "information technology" },
  ];
  const rewritten: RewrittenPart[] = [];
  const spoken = pronounce("łódź has a lot of IT.", words, rewritten);
  expect(rewritten.map(({ start, length }) => spoken.slice(start, start + length))).toEqual([
    "Woodge",
    "information technology",
  ]);
  expect(rewritten.map(({ written }) => written)).toEqual(["łódź", "IT"]);
});

test("replaces words with signs, and with capitals that have no lower case of one letter", () => {
  const words = ["GPT-4", "AT&T [US]", "a/b {c}|d^", "İzmir"].map((text) => ({ text, spoken: "x" }));
  expect(pronounce("gpt-4, AT&T [US], a/b {c}|d^, İzmir", words)).toBe("x, x, x, x");
});

test("leaves tags of SSML alone", () => {
  const words = [{ text: "break", spoken: "brake" }];
  expect(pronounce('<speak>Break <break time="1s"/> break</speak>', words)).toBe(
    '<speak>brake <break time="1s"/> brake</speak>',
  );
});

test("refuses what is too long as it is written or spoken, before it is", () => {
  const words = [{ text: "a", spoken: "b".repeat(200) }];
  const tooLong = expect.objectContaining({ code: "string_above_max_length", param: "input" });
  const before = process.threadCpuUsage();
  for (const count of [10_000, 5_000_000]) {
    expect(() => pronounce("a ".repeat(count), words)).toThrow(tooLong);
  }
  expect(process.threadCpuUsage(before).user).toBeLessThan(300_000);
  expect(pronounce("a ".repeat(1000), words).length).toBe(201_000);
});

test("refuses word times for more replaced words than others should wait for", () => {
  const words = [{ text: "a", spoken: "b" }];
  const text = "a ".repeat(30_001);
  const replaced: RewrittenPart[] = [];
  pronounce(text.slice(2), words, replaced);
  expect(replaced).toHaveLength(30_000);
  const tooMany = expect.objectContaining({ code: "string_above_max_length", param: "input" });
  expect(() => pronounce(text, words, [])).toThrow(tooMany);
  expect(pronounce(text, words)).toBe("b ".repeat(30_001));
});

test("reads a long text with many words in time that grows with the text", () => {
  const words = Array.from({ length: 500 }, (_, index) => ({ text: `${"a".repeat(90)}${index}`, spoken: "b" }));
  const text = "a".repeat(4096);
  const before = process.threadCpuUsage();
  expect(pronounce(text, words)).toBe(text);
  const { user } = process.threadCpuUsage(before);
  expect(user).toBeLessThan(500_000);
});
