import { expect, test } from "vitest";
import { GrammarCompiler } from "./grammar-compiler.ts";

const param = "response_format.json_schema.schema";
const formatOf = (schema: unknown) => ({
  kind: "format" as const,
  format: { type: "json-schema" as const, schema, param },
});

test("compiles grammars and rejects only the request that cannot be compiled", async () => {
  const compiler = new GrammarCompiler();
  const [number, refused, text] = await Promise.allSettled([
    compiler.compile(formatOf({ type: "integer" })),
    compiler.compile(formatOf({ type: "array", uniqueItems: true })),
    compiler.compile(formatOf({ const: "yes" })),
  ]);
  expect(number).toMatchObject({ status: "fulfilled", value: expect.stringContaining("root ::=") });
  expect(text).toMatchObject({ status: "fulfilled", value: expect.stringContaining("yes") });
  expect(refused).toMatchObject({
    status: "rejected",
    reason: { name: "RequestError", code: "unsupported_value", param: `${param}.uniqueItems` },
  });
});

test("places the arguments in the model's tool-call format", async () => {
  const format = { trigger: "[TOOL_CALLS]", open: "", afterName: "[ARGS]", between: "[TOOL_CALLS]", close: '\n"\\' };
  const tools = [
    { name: "one", description: undefined, parameters: undefined, param: "tools[0]" },
    { name: "two", description: undefined, parameters: { type: "object", properties: {} }, param: "tools[1]" },
  ];
  const text = await new GrammarCompiler().compile({ kind: "calls", calls: { format, tools, allowsParallel: true } });
  expect(text).toContain('calls ::= "" call ("[TOOL_CALLS]" call)* "\\n\\"\\\\"');
  expect(text).toContain('call ::= "one" "[ARGS]" tool-0 | "two" "[ARGS]" tool-1');
});

test.each([
  ["a length beyond the bound", { minLength: 1e9 }],
  ["a length that is no number", { maxLength: '9} | "x' }],
  ["lengths that exclude each other", { minLength: 5, maxLength: 2 }],
  ["no value", { enum: [] }],
])("refuses a text with %s, also in arguments with tags", async (_name, keywords) => {
  const tags = { afterName: ">", after: "</arg>" };
  const tagged = { before: "<arg=", text: tags, other: tags, between: "" };
  const format = { trigger: "<call>", open: "", afterName: "", between: undefined, close: "</call>", tagged };
  const parameters = { type: "object", properties: { a: { type: "string", ...keywords } } };
  const tools = [{ name: "one", description: undefined, parameters, param: "tools[0]" }];
  const compiled = new GrammarCompiler().compile({ kind: "calls", calls: { format, tools, allowsParallel: true } });
  await expect(compiled).rejects.toMatchObject({ name: "RequestError", param: expect.stringContaining("tools[0]") });
});

/** Takes seconds. */
const SLOW = {
  type: "array",
  prefixItems: Array.from({ length: 2_000 }, (_, index) => ({
    type: "string",
    pattern: `^${index}([a-z]{1,40}|[0-9]{2,20}){1,9}$`,
  })),
};

test("fails only the schema that takes too long, by CPU time, and compiles those behind it", async () => {
  const compiler = new GrammarCompiler(1_000);
  const slow = compiler.compile(formatOf(SLOW));
  const others = [{ type: "integer" }, { const: "yes" }].map((schema) => compiler.compile(formatOf(schema)));
  await expect(slow).rejects.toMatchObject({ name: "RequestError", code: "invalid_value" });
  for (const text of await Promise.all(others)) expect(text).toContain("root ::=");
});
