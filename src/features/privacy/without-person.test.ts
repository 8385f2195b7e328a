import { expect, test } from "vitest";
import type { TextKind } from "../../storage/personal-data.ts";
import { quotationsOf } from "./quotations.ts";
import { withoutPerson } from "./without-person.ts";

const turn = async () => {};

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
  [
    "definition",
    "太郎 山田",
    '{"role":"user","text":"山田太郎、至急返信してください。","to":"@Ada"}',
    '{"role":"user","text":"…、至急返信してください。","to":"@Ada"}',
    ["山田太郎"],
  ],
  ["label", "gpt 4o", "gpt-4o", "gpt-4o", []],
  ["label", "gpt 4o", "bots/jo@b.c", "bots/…", ["jo@b.c"]],
])(
  "leaves nothing of a person in %s and names of others as they are: %s",
  async (kind, name, text, erased, passages) => {
    const person = { quotations: quotationsOf({ identifiers: ["jo@b.c"], name }), pseudonym: "…" };
    expect(await withoutPerson(text, { kind, person, turn })).toEqual({ erased, passages });
  },
);

test("reads long strings of JSON", async () => {
  const text = JSON.stringify({ text: `${"\\x".repeat(5_000_000)} jo@b.c` });
  const person = { quotations: quotationsOf({ identifiers: ["jo@b.c"], name: null }), pseudonym: "…" };
  const { erased } = await withoutPerson(text, { kind: "json", person, turn });
  expect(erased).toBe(text.replace("jo@b.c", "…"));
});

test("searches long texts in slices, also for what begins in one and ends in the next", async () => {
  const person = { quotations: quotationsOf({ identifiers: ["jo@b.c"], name: "Jo Mary Doe" }), pseudonym: "…" };
  let turnCount = 0;
  const counted = async () => {
    turnCount += 1;
  };
  for (const offset of [-20, -12, -8, -6, -5, -4, -3, -2, -1, 0, 1]) {
    for (const passage of ["Doe -- MARY, Jo", "jo@b.c", "not.jo@b.c", "jo@b.c.d"]) {
      const text = `${".".repeat(64 * 1024 + offset)} ${passage} ${".".repeat(100_000)} Jo Doe`;
      const { erased } = await withoutPerson(text, { kind: "prose", person, turn: counted });
      const expected = /not|d$/.test(passage) ? text : text.replace(passage, "…");
      expect(erased).toBe(expected.replace(/Jo Doe$/, "…"));
    }
  }
  expect(turnCount).toBeGreaterThan(2 * 11 * 4);
});
