import { PbfWriter } from "pbf";
import { expect, test } from "vitest";
import { modelCharacters } from "./model-characters.ts";

function modelWith(pairs: Readonly<Record<string, string>>): Uint8Array {
  const writer = new PbfWriter();
  writer.writeVarintField(1, 8);
  for (const [name, value] of Object.entries(pairs)) {
    writer.writeMessage(
      14,
      ([key, text], pair) => {
        pair.writeStringField(1, key);
        pair.writeStringField(2, text);
      },
      [name, value] as const,
    );
  }
  return writer.finish();
}

test("reads the characters of a model", () => {
  expect(modelCharacters(modelWith({ author: "x", character: "a\nß\n漢" }))).toEqual(["a", "ß", "漢"]);
});

test("refuses a model without characters", () => {
  expect(() => modelCharacters(modelWith({ author: "x" }))).toThrow("no metadata 'character'");
});
