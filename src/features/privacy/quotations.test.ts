import { expect, test } from "vitest";
import { quotationsOf } from "./quotations.ts";

function erase(text: string, name: string, email: string): string {
  return quotationsOf({ identifiers: [email], name }).reduce((rest, { pattern }) => rest.replace(pattern, "…"), text);
}

test.each([
  ["Ask Anne-Marie O'Neil (CEO)", "Anne-Marie O'Neil", "anne-marie@x-y.example", "Ask … (CEO)"],
  ["Mail ANNE-MARIE+a/b@x-y.example", "A", "anne-marie+a/b@x-y.example", "Mail …"],
  ["O'NEIL, Anne-Marie's files", "Anne-Marie O'Neil", "a@b.c", "…'s files"],
  ["Öberg_Åsa und åsa öberg", "Åsa Öberg", "a@b.c", "… und …"],
  ['{"owner":"Jo \\"J\\" Doe"}', 'Jo "J" Doe', "a@b.c", '{"owner":"…"}'],
  ["$& (x] [y) {z} \\ ^|", "[y) {z}", "(x]@b.c", "$& (x] … \\ ^|"],
  ["Jo's list, Doe's list, info@other.example", "Jo Doe", "info@b.c", "Jo's list, Doe's list, info@other.example"],
])("replaces in %j what means %s <%s>", (text, name, email, expected) => {
  expect(erase(text, name, email)).toBe(expected);
});
