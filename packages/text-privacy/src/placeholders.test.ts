import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isJsonDocument, rewriteToken, type TokenMatches, toJsonLines, tokensWithMatches } from "./json-strings.ts";
import { MaskingTransform } from "./masking-transform.ts";
import type { Match } from "./match.ts";
import { ADDRESS_SPAN } from "./personal-data/address.ts";
import { personalDataFinder } from "./personal-data/find-personal-data.ts";
import { Placeholders, RestoringTransform } from "./placeholders.ts";

const find = personalDataFinder();

function masked(placeholders: Placeholders, text: string): string {
  placeholders.reserve(text);
  return placeholders.mask(text, find(text));
}

const value = fc.constantFrom(
  "ada@example.com",
  "bob.smith+tag@mail.example.org",
  "4111 1111 1111 1111",
  "DE89 3704 0044 0532 0130 00",
  "078-05-1120",
  "+49 30 901820",
);
const words = fc.constantFrom(
  "Write to",
  "and",
  "<b>",
  "C4",
  "S3",
  "a < b",
  "&lt;",
  "\\",
  "U_1",
  "EMAIL_ADDRESS_",
  "日本",
  "🙂",
  "\n",
);
const sentence = fc.array(fc.oneof(value, words), { maxLength: 12 }).map((parts) => parts.join(" "));

/** Cuts a text into pieces at random places, also within characters of two units. */
const cut = (text: string, places: readonly number[]) => {
  const at = [...new Set(places.map((place) => place % (text.length + 1)))].sort((a, b) => a - b);
  return [0, ...at].map((from, index) => text.slice(from, at[index] ?? text.length));
};

describe("placeholders", () => {
  test("number the values of each type, equal ones alike", () => {
    const placeholders = new Placeholders();
    expect(masked(placeholders, "ada@example.com, bob@example.com, ada@example.com, 078-05-1120")).toBe(
      "<EMAIL_ADDRESS_1>, <EMAIL_ADDRESS_2>, <EMAIL_ADDRESS_1>, <US_SSN_1>",
    );
  });

  test("leave out names that a text contains already", () => {
    const placeholders = new Placeholders();
    expect(masked(placeholders, "<EMAIL_ADDRESS_1> is ada@example.com")).toBe("<EMAIL_ADDRESS_1> is <EMAIL_ADDRESS_2>");
    expect(placeholders.restore("<EMAIL_ADDRESS_1> <EMAIL_ADDRESS_2>")).toBe("<EMAIL_ADDRESS_1> ada@example.com");
  });

  test.each([
    ["<EMAIL_ADDRESS_1>", "ada@example.com"],
    ["&lt;EMAIL_ADDRESS_1&gt;", "ada@example.com"],
    ["\\<EMAIL\\_ADDRESS\\_1\\>", "ada@example.com"],
    ["\\u003cEMAIL_ADDRESS_1\\u003E", "ada@example.com"],
    ["EMAIL_ADDRESS_1's", "ada@example.com's"],
    ["<EMAIL_ADDRESS_11>", "<EMAIL_ADDRESS_11>"],
    ["MY_EMAIL_ADDRESS_1", "MY_EMAIL_ADDRESS_1"],
  ])("are restored where a model writes %j", (written, expected) => {
    const placeholders = new Placeholders();
    masked(placeholders, "ada@example.com");
    expect(placeholders.restore(written)).toBe(expected);
  });

  test("are restored with the escapes of JSON in tool arguments", () => {
    const placeholders = new Placeholders();
    placeholders.mask('the "value"\n', [{ type: "SECRET", start: 4, end: 12, score: 1 }]);
    expect(JSON.parse(placeholders.restore('{"key": "<SECRET_1>"}', "json"))).toEqual({ key: '"value"\n' });
  });

  test("come back as the original text, however the answer is cut", () => {
    fc.assert(
      fc.property(sentence, fc.array(fc.nat(), { maxLength: 30 }), (text, places) => {
        const placeholders = new Placeholders();
        const answer = masked(placeholders, text);
        for (const personal of ["ada@example.com", "4111 1111 1111 1111", "078-05-1120"])
          expect(answer).not.toContain(personal);
        const restoring = new RestoringTransform(placeholders);
        const pieces = cut(answer, places).map((piece) => restoring.push(piece));
        expect(pieces.join("") + restoring.end()).toBe(text);
      }),
    );
  });

  test("hold back nothing of an answer that cannot be one", () => {
    const placeholders = new Placeholders();
    masked(placeholders, "ada@example.com");
    const restoring = new RestoringTransform(placeholders);
    expect(["Hello", " there,", " 1 < 2 and", " you"].map((piece) => restoring.push(piece))).toEqual([
      "Hello",
      " there,",
      " 1 < 2 and",
      " you",
    ]);
  });
});

describe("a masking transform", () => {
  test("holds back a word with an invisible character until it ends", () => {
    const masking = new MaskingTransform({ find, replace: () => "<X>" });
    const pieces = ["Mail ada\ufeff", "@exam", "ple.com", " now"].map((piece) => masking.push(piece));
    expect(pieces.join("") + masking.end()).toBe("Mail <X> now");
  });

  const transform = (replace: (match: Match) => string = ({ type }) => `<${type}>`) =>
    new MaskingTransform({ find, replace, span: ADDRESS_SPAN });

  test("masks as the complete text would be, however it is cut", () => {
    fc.assert(
      fc.property(sentence, fc.array(fc.nat(), { maxLength: 40 }), (text, places) => {
        const masking = transform();
        const output =
          cut(text, places)
            .map((piece) => masking.push(piece))
            .join("") + masking.end();
        for (const personal of ["ada@", "smith+tag", "4111 1111", "DE89 3704", "078-05", "901820"]) {
          expect(output).not.toContain(personal);
        }
      }),
    );
  });

  test.each([
    "Mail a@**b.com** and go",
    'Mail <b>a</b>@<i class="x">b.com</i> and go',
    "Mail a@\nb.com and go",
    "Mail a@\r\n> b.com and go",
    "Mail a@**\n**b.com and go",
    "Mail <b class='x'>a</b>@<!-- c d -->b.com and go",
  ])("masks the address in %j wherever the text is cut", (text) => {
    for (let length = 1; length < text.length; length += 1) {
      const masking = new MaskingTransform({ find, replace: ({ type }) => `<${type}>` });
      const pieces = Array.from({ length: Math.ceil(text.length / length) }, (_, index) =>
        masking.push(text.slice(index * length, (index + 1) * length)),
      );
      const [match] = find(text);
      const expected = `${text.slice(0, match?.start)}<EMAIL_ADDRESS>${text.slice(match?.end)}`;
      expect(pieces.join("") + masking.end()).toBe(expected);
    }
  });

  test("passes on words as the next ones arrive", () => {
    const masking = new MaskingTransform({ find, replace: () => "<X>" });
    expect(
      ["Hello", " there, I", " am", " ada@example", ".com and", " more", "."].map((piece) => masking.push(piece)),
    ).toEqual(["", "Hello there,", " I", " am", " <X>", " and", ""]);
    expect(masking.end()).toBe(" more.");
  });

  test.each([
    "He lives in the Hauptstraße 12a, 10827 Berlin and works.",
    "Write to 742 Evergreen Terrace, Springfield, OR 97475 or call.",
    "Elle habite au 12 rue de la Paix, 75002 Paris depuis longtemps.",
    "Vive en la Calle de Alcalá 42 ahora.",
  ])("masks the address in %j word by word", (text) => {
    const masking = transform();
    const output =
      text
        .split(/(?<= )/)
        .map((word) => masking.push(word))
        .join("") + masking.end();
    expect(output).toContain("<LOCATION>");
    expect(output).not.toMatch(/Hauptstraße|Evergreen|Paix|Alcalá/);
  });

  test("holds back a bounded part of a text without spaces", () => {
    const masking = transform();
    let length = 0;
    for (let index = 0; index < 2000; index += 1) length += masking.push("x").length;
    expect(length).toBeGreaterThan(1600);
    expect(length + masking.end().length).toBe(2000);
  });

  test("passes on nothing of a value whose match throws", () => {
    const masking = transform(() => {
      throw new Error("blocked");
    });
    expect(masking.push("It is 078-05")).toBe("It is");
    expect(() => masking.push("-1120 as they") + masking.end()).toThrow("blocked");
  });
});

test("values of JSON are masked by the keys before them, and the rest of the text stays as it is", async () => {
  const json =
    '{ "to":  "ada\\u0040example.com", "n": 1.50, "big": 12345678901234567890, "creditCard": 4111111111111111, "social_security": "078051120" }';
  expect(isJsonDocument(json)).toBe(true);
  const lines = toJsonLines(json);
  const placeholders = new Placeholders();
  const output = await rewriteTokens(json, tokensWithMatches(lines, find(lines.text)), (value, { matches }) =>
    placeholders.mask(value, matches),
  );
  expect(output).toBe(
    '{ "to":  "<EMAIL_ADDRESS_1>", "n": 1.50, "big": 12345678901234567890, "creditCard": "<CREDIT_CARD_1>", "social_security": "<US_SSN_1>" }',
  );
});

test("JSON without a change is the same text", async () => {
  await fc.assert(
    fc.asyncProperty(fc.json(), async (json) => {
      const { values } = toJsonLines(json);
      const tokens = values.map(({ token }) => ({ ...token, matches: [] }));
      expect(await rewriteTokens(json, tokens, (value) => value)).toBe(json);
      expect(values.every(({ start, end }) => start <= end)).toBe(true);
    }),
  );
});

async function rewriteTokens(
  json: string,
  tokens: readonly TokenMatches[],
  rewrite: (value: string, token: TokenMatches) => string,
): Promise<string> {
  let output = "";
  let from = 0;
  for (const token of tokens) {
    output += json.slice(from, token.start);
    output += await rewriteToken(json.slice(token.start, token.end), async (value) => rewrite(value, token));
    from = token.end;
  }
  return output + json.slice(from);
}
