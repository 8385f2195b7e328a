import { expect, test } from "vitest";
import type { TextKind } from "../../storage/personal-data.ts";
import { quotationsOf } from "./quotations.ts";
import { withoutPerson } from "./without-person.ts";

test.each<[TextKind, string, string, string, string[]]>([
  ["json", "Jo Doe", '{"owner":"\\u004ao\\u0020Doe\\\\"}', '{"owner":"…\\\\"}', ["Jo Doe"]],
  ["json", 'Jo "J" Doe', '{"Jo Doe":["Jo \\"J\\" Doe"]}', '{"…":["…"]}', ["Jo Doe", 'Jo "J" Doe']],
  ["json", "Role Owner", '{"role":"owner","name":"role_owner"}', '{"role":"owner","name":"…"}', ["role_owner"]],
  ["json", '"role": "owner"', '{"role":"owner"}', '{"role":"owner"}', []],
  [
    "definition",
    "Input Text",
    '{"type":"input_text","text":"The input text","to":"jo@b.c"}',
    '{"type":"input_text","text":"The …","to":"…"}',
    ["input text", "jo@b.c"],
  ],
  ["label", "gpt 4o", "gpt-4o", "gpt-4o", []],
  ["label", "gpt 4o", "bots/jo@b.c", "bots/…", ["jo@b.c"]],
])("leaves nothing of a person in %s and names of others as they are: %s", (kind, name, text, erased, passages) => {
  const person = { quotations: quotationsOf({ identifiers: ["jo@b.c"], name }), pseudonym: "…" };
  expect(withoutPerson(text, kind, person)).toEqual({ erased, passages });
});

test("reads long strings of JSON", () => {
  const text = JSON.stringify({ text: `${"\\x".repeat(5_000_000)} jo@b.c` });
  const person = { quotations: quotationsOf({ identifiers: ["jo@b.c"], name: null }), pseudonym: "…" };
  expect(withoutPerson(text, "json", person).erased).toBe(text.replace("jo@b.c", "…"));
});
