import { expect, test } from "vitest";
import { Pronunciations } from "./pronunciations.ts";

test("replaces whole words in any case, the longest first", () => {
  const words = new Pronunciations([
    { text: "Łódź", spoken: "Woodge" },
    { text: "New York", spoken: "the city" },
    { text: "New", spoken: "nu" },
    { text: "C++", spoken: "C plus plus" },
    { text: "$&", spoken: "$1" },
  ]);
  expect(words.apply("ŁÓDŹ, new york: New News in C++ (łódź-based) and Łódźian, $&!")).toBe(
    "Woodge, the city: nu News in C plus plus (Woodge-based) and Łódźian, $1!",
  );
});

test("leaves tags of SSML alone", () => {
  const words = new Pronunciations([{ text: "break", spoken: "brake" }]);
  expect(words.apply('<speak>Break <break time="1s"/> break</speak>')).toBe(
    '<speak>brake <break time="1s"/> brake</speak>',
  );
});

test("reads a long text with many words in time that grows with the text", () => {
  const entries = Array.from({ length: 500 }, (_, index) => ({ text: `${"a".repeat(90)}${index}`, spoken: "b" }));
  const words = new Pronunciations(entries);
  const text = "a".repeat(4096);
  const before = process.cpuUsage();
  expect(words.apply(text)).toBe(text);
  const { user } = process.cpuUsage(before);
  expect(user).toBeLessThan(500_000);
});
