import { expect, test } from "vitest";
import { quotationsOf } from "./quotations.ts";
import { withoutPerson } from "./without-person.ts";

async function erase(text: string, name: string, email: string): Promise<string> {
  const person = { quotations: quotationsOf({ identifiers: [email], name }), pseudonym: "…" };
  return (await withoutPerson(text, { kind: "prose", person, turn: async () => {} })).erased;
}

test.each([
  ["Ask Anne-Marie O'Neil (CEO)", "Anne-Marie O'Neil", "anne-marie@x-y.example", "Ask … (CEO)"],
  ["Mail ANNE-MARIE+a/b@x-y.example", "A", "anne-marie+a/b@x-y.example", "Mail …"],
  ["O'NEIL, Anne-Marie's files", "Anne-Marie O'Neil", "a@b.c", "…'s files"],
  ["Öberg_Åsa und åsa öberg", "Åsa Öberg", "a@b.c", "… und …"],
  ['Jo "J" Doe', 'Jo "J" Doe', "a@b.c", "…"],
  ["ada@x.y, not.ada@x.y, ada@x.y.z; -ada@x.y.", "A", "ada@x.y", "…, not.ada@x.y, ada@x.y.z; -…."],
  [
    "?u=ada%2Blists%40x.y &#65;da+lists&#x40;x.y ada&#0043;lists&#x00040;x.y ada+lists\\u0040x.y",
    "A",
    "ada+lists@x.y",
    "?u=… &#65;da+lists&#x40;x.y … …",
  ],
  ["$& (x] [y) {z} \\ ^|", "[y) {z}", "(x]@b.c", "$& (x] … \\ ^|"],
  ["Jo's list, Doe's list, info@other.example", "Jo Doe", "info@b.c", "Jo's list, Doe's list, info@other.example"],
])("replaces in %j what means %s <%s>", async (text, name, email, expected) => {
  expect(await erase(text, name, email)).toBe(expected);
});

test("needs no more time for names that can be read in many ways", async () => {
  const middle = Array.from({ length: 19 }, (_, index) => "a".repeat(index + 2)).join(" ");
  const text = `yy xx${"a".repeat(200)}`;
  expect(await erase(text, `xx ${middle} yy`, "a@b.c")).toBe(text);
  expect(await erase(`${text} xx aa${"a".repeat(20)}-yy`, `xx ${middle} yy`, "a@b.c")).toBe(`${text} …`);
  expect(await erase(`** ${"-".repeat(200)}`, "** -- --- ---- ++", "a@b.c")).toBe(`** ${"-".repeat(200)}`);
  expect(await erase("-- ab", "-- ab", "a@b.c")).toBe("-- ab");
});
