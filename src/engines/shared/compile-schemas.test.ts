import { beforeEach, expect, test } from "vitest";
import { makeChatRequest } from "../../../test/support/service/chat-request.ts";
import { longestTurnDuring } from "../../../test/support/service/longest-turn.ts";
import type { Tool } from "../../contracts/chat-model.ts";
import { toSchemaRequest, withGrammars } from "./compile-schemas.ts";

let { signal } = new AbortController();
beforeEach(() => {
  ({ signal } = new AbortController());
});
const format = (schema: unknown) => ({ type: "json-schema" as const, schema, param: "response_format" });
const tool = (name: string, parameters: unknown): Tool => ({
  name,
  description: "",
  parameters,
  param: `tools.${name}`,
});

test("does nothing for requests without schemas", () => {
  expect(withGrammars(makeChatRequest({}), signal)).toBeUndefined();
  expect(withGrammars(makeChatRequest({ format: { type: "json" } }), signal)).toBeUndefined();
});

test("adds the grammars of the format and of the callable tools", async () => {
  const tools = [tool("a", { type: "object" }), tool("b", { type: "object" })];
  const request = makeChatRequest({ format: format({ type: "integer" }), tools, toolChoice: { name: "b" } });
  const prepared = await withGrammars(request, signal);
  expect(prepared?.format).toMatchObject({ grammar: { rules: expect.stringContaining("answer ::= ") } });
  expect(prepared?.tools[0]).not.toHaveProperty("grammar");
  expect(prepared?.tools[1]).toMatchObject({ grammar: { ruleName: "tool-0" } });
  expect(withGrammars(prepared ?? request, signal)).toBeUndefined();
});

test("throws a Fault with the path of a schema that cannot be enforced", async () => {
  const request = makeChatRequest({ format: format({ $ref: "https://example.org/x" }) });
  await expect(withGrammars(request, signal)).rejects.toMatchObject({
    kind: "invalid-request",
    code: "unsupported_value",
    param: "response_format.$ref",
  });
});

test("spends one budget in all attempts of a request, and another one for the next request", async () => {
  const compile = (maximum: number) =>
    withGrammars(makeChatRequest({ format: format({ type: "integer", maximum }) }), signal);
  const { budget } = toSchemaRequest({}, signal);
  await compile(1);
  const afterOne = budget.remainingMs;
  expect(afterOne).toBeLessThan(budget.totalMs);
  await compile(2);
  expect(budget.remainingMs).toBeLessThan(afterOne);
  budget.spend(budget.totalMs);
  await expect(compile(3)).rejects.toMatchObject({ kind: "invalid-request", param: "response_format" });
  expect(toSchemaRequest({}, new AbortController().signal).budget.remainingMs).toBe(budget.totalMs);
});

test("compiles a project's schema off the event loop while another project's schemas take seconds", async () => {
  const slow = (index: number) => {
    const names = Array.from({ length: 8 }, (_, each) => `p${each}`);
    const pattern = `^([a-z]{1,40}|[0-9]{2,2${index}}){1,9}$`;
    return format({ type: "object", properties: Object.fromEntries(names.map((name) => [name, { pattern }])) });
  };
  const { turnMs } = await longestTurnDuring(async () => {
    const hostile = [1, 2, 3, 4].map((index) =>
      withGrammars(makeChatRequest({ format: slow(index), project: "hostile" }), new AbortController().signal),
    );
    const settled = Promise.allSettled(hostile).then(() => "hostile");
    const friendly = withGrammars(
      makeChatRequest({ format: format({ type: "integer" }), project: "friendly" }),
      signal,
    );
    await expect(Promise.race([settled, friendly?.then(() => "friendly")])).resolves.toBe("friendly");
    await settled;
  });
  expect(turnMs).toBeLessThan(250);
});
