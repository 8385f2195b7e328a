import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { compileWasm, WASM_MODULES } from "../../../scripts/wasm/compile-wasm.ts";
import { findReferences } from "../../wire/content-references.ts";
import { readChatBody } from "../../wire/openai/chat/chat-body.ts";
import { toChatCall } from "../../wire/openai/chat/chat-call.ts";
import { keepOutline, outlineOf } from "./json-outline.ts";
import { keepSource } from "./json-source.ts";
import { parseJson } from "./parse-json.ts";

const LIMITS = { maxValues: 1_000 };
const whole = (json: Uint8Array) => parseJson(json, LIMITS);
const outlined = (json: Uint8Array) => parseJson(json, LIMITS, true);
const bodyOf = (...messages: object[]) => JSON.stringify({ model: "a", messages, stream: false });

/** Cuts bytes into chunks of this length, as they arrive. */
function cut(json: Uint8Array, length: number): Uint8Array[] {
  return Array.from({ length: Math.ceil(json.length / length) }, (_, part) =>
    json.subarray(part * length, (part + 1) * length),
  );
}

test.each(WASM_MODULES)("$constant is compiled from its source", async (module) => {
  expect(await compileWasm(module)).toBe(readFileSync(module.target, "utf8"));
});

const LONG = [
  "word ".repeat(40),
  'He said "yes" to \\ and\n\ttabs. '.repeat(5),
  "Größe 尺寸 🐉 ".repeat(9),
  `https://example.com/${"a".repeat(80)}`,
  ` \n http://example.com/${"a".repeat(80)}`,
  `\u007fftp://${"a".repeat(80)}`,
  `http\u017f://${"a".repeat(80)}`,
  `\u3000s3:${"a".repeat(80)}`,
  `data:image/png;base64,${"QUJD".repeat(40)}`,
  `DATA:text/plain,${"QUJD".repeat(40)}`,
  "a".repeat(300),
  "\u0000\u001f\ud800 lone \udc00".repeat(9),
];
const text = fc.oneof(
  fc.string(),
  fc.string({ unit: "binary", minLength: 60, maxLength: 140 }),
  fc.constantFrom(...LONG),
);
const call = fc.record({
  id: text,
  type: fc.constant("function"),
  function: fc.record({ name: text, arguments: text }),
});
const part = fc.oneof(
  fc.record({ type: fc.constantFrom("text", "input_text", "other"), text }),
  fc.record({ type: fc.constant("image_url"), image_url: fc.record({ url: text }, { noNullPrototype: true }) }),
  fc.record({
    type: text,
    text,
    content: text,
    nested: fc.record({ url: text, text }),
    image_url: fc.array(fc.record({ url: text, text, arguments: text }), { maxLength: 2 }),
  }),
);
const content = fc.oneof(text, fc.array(part, { maxLength: 3 }), fc.constant(null), fc.integer());
const message = fc.oneof(
  fc.record({ role: fc.constantFrom("user", "system", "assistant", "developer", "function"), content }),
  fc.record({ role: fc.constant("assistant"), content, tool_calls: fc.array(call, { maxLength: 2 }) }),
  fc.record({ role: fc.constant("tool"), content, tool_call_id: text }),
  fc.dictionary(fc.constantFrom("role", "content", "text", "arguments", "url", "name"), text),
);
const fields = fc.record(
  {
    model: text,
    messages: fc.array(message, { maxLength: 4 }),
    tools: fc.array(fc.record({ type: fc.constant("function"), content: text, text })),
    metadata: fc.dictionary(fc.constantFrom("messages", "content", "url"), text),
    user: text,
  },
  { requiredKeys: ["messages"], noNullPrototype: true },
);
/** JSON with each character beyond ASCII, or every one, escaped. */
const json = fc
  .tuple(fields, fc.constantFrom(undefined, 1, "\t"), fc.constantFrom(0, 1, 2))
  .map(([value, indent, way]) => {
    const written = JSON.stringify(value, undefined, indent);
    if (way === 0) return written;
    const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
    return written.replace(way === 1 ? /[^\0-~]/g : /[^\0-~]|[aeiou](?=[a-z ]* )/g, toEscape);
  });

/** JSON after changes at random places, most of which break it. */
const broken = fc
  .tuple(
    json,
    fc.array(fc.tuple(fc.nat(), fc.constantFrom(...'"\\{}[],:\nu1\u0001é', "", "\\u12", "\\x")), { maxLength: 3 }),
  )
  .map(([written, changes]) => {
    let bytes = Buffer.from(written);
    for (const [place, insertion] of changes) {
      const at = place % (bytes.length + 1);
      bytes = Buffer.concat([bytes.subarray(0, at), Buffer.from(insertion), bytes.subarray(at + 1)]);
    }
    return bytes;
  });
/** Bytes that need not be UTF-8, and JSON that ends too early. */
const damaged = fc.tuple(json, fc.nat(), fc.nat({ max: 255 }), fc.boolean()).map(([written, place, byte, isCut]) => {
  const bytes = Buffer.from(written);
  const at = place % bytes.length;
  if (isCut) return bytes.subarray(0, at);
  bytes[at] = byte;
  return bytes;
});

function verdictOf(parsed: ReturnType<typeof parseJson>) {
  return parsed.problem === undefined ? { value: parsed.value, members: parsed.source?.members } : parsed;
}

describe("an outlined body", () => {
  test("has the content and the verdict of the whole", () => {
    const property = fc.property(
      fc.oneof(
        json.map((each) => Buffer.from(each)),
        broken,
        damaged,
      ),
      fc.integer({ min: 1, max: 200 }),
      (bytes, length) => {
        expect(verdictOf(parseJson(cut(bytes, length), LIMITS, true))).toEqual(verdictOf(whole(bytes)));
      },
    );
    fc.assert(property, { numRuns: 2_000 });
  });

  test("is valid as a chat if and only if the whole is, with the same error", () => {
    const read = (parsed: ReturnType<typeof parseJson>) => {
      if (parsed.problem !== undefined) return { problem: parsed.problem };
      keepSource(parsed.value, parsed.source);
      if (parsed.outline !== undefined) keepOutline(parsed.value as object, parsed.outline);
      try {
        return { body: readChatBody(parsed.value) };
      } catch (error) {
        return { problem: (error as Error).message };
      }
    };
    const property = fc.property(json, (written) => {
      const [mine, full] = [read(outlined(Buffer.from(written))), read(whole(Buffer.from(written)))];
      expect(mine.problem).toEqual(full.problem);
      if (mine.body === undefined || full.body === undefined) return;
      const shortened = outlineOf(mine.body)?.fields ?? mine.body;
      expect(findReferences(shortened.messages, "messages")).toEqual(findReferences(full.body.messages, "messages"));
      const calls = [mine.body, full.body].map((body) => toChatCall(body, {}, "ignore"));
      expect(calls[0]?.passThrough.promptBytes()).toBe(calls[1]?.passThrough.promptBytes());
      expect(mine.body).toEqual(full.body);
      expect(calls[0]?.request).toEqual(calls[1]?.request);
    });
    fc.assert(property, { numRuns: 2_000 });
  });

  test("leaves long texts in the bytes until they are read", () => {
    const long = "word ".repeat(40);
    const parsed = outlined(
      Buffer.from(
        bodyOf(
          { role: "user", content: long },
          {
            role: "user",
            content: [
              { type: "text", text: long },
              { type: "image_url", image_url: { url: LONG[8] } },
            ],
          },
          { role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: long } }] },
        ),
      ),
    );
    const outline = "outline" in parsed ? parsed.outline : undefined;
    expect(outline?.hiddenBytes).toBe(3 * (long.length - 1));
    expect(outline?.fields.messages).toEqual([
      { role: "user", content: "*" },
      {
        role: "user",
        content: [
          { type: "text", text: "*" },
          { type: "image_url", image_url: { url: "data:" } },
        ],
      },
      { role: "assistant", tool_calls: [{ id: "1", type: "function", function: { name: "f", arguments: "*" } }] },
    ]);
  });

  test.each([
    ["keys that stand twice", `{"messages":[{"content":"${LONG[0]}","content":"${LONG[0]}"}]}`],
    ["messages that stand twice", `{"messages":[{"content":"${LONG[0]}"}],"m\\u0065ssages":[]}`],
    ["a byte order mark", `\uFEFF{"messages":[{"content":"${LONG[0]}"}]}`],
    ["texts outside of messages", `{"prompt":[{"content":"${LONG[0]}"}]}`],
  ])("is parsed as a whole with %s", (_what, written) => {
    const parsed = outlined(Buffer.from(written));
    expect(parsed).not.toHaveProperty("outline");
    expect(verdictOf(parsed)).toEqual(verdictOf(whole(Buffer.from(written))));
  });

  test.each([
    ["__proto__", `{"messages":[{"content":"${LONG[0]}","\\u005f_proto__":{}}]}`, /key `__proto__`/],
    ["too many values", bodyOf(...Array.from({ length: 600 }, () => ({ content: LONG[0] }))), /more than 1000 values/],
    ["129 levels", `{"messages":${"[".repeat(128)}${"]".repeat(128)}}`, /nested more than 128 levels deep/],
  ])("is rejected for %s", (_what, written, problem) => {
    expect(outlined(Buffer.from(written))).toEqual({ problem: expect.stringMatching(problem) });
  });
});
