import { beforeAll, expect, test } from "vitest";
import { longestTurnDuring } from "../../../../test/support/service/longest-turn.ts";
import { Fault } from "../../../kernel/faults.ts";
import { toSchemaRequest } from "../../shared/compile-schemas.ts";
import { checkedAnswer } from "./checked-answer.ts";
import { compileFormat } from "./json-choice.ts";
import type { CompleteAnswer } from "./read-completion.ts";

const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0, estimated: false };

test("cancels the repairs of other choices when one fails", async () => {
  const running: AbortSignal[] = [];
  let asked = 0;
  const complete = async (_body: unknown, signal: AbortSignal): Promise<CompleteAnswer | undefined> => {
    asked += 1;
    if (asked === 2) throw new Fault("upstream-failed", "It broke.");
    if (asked > 2) {
      running.push(signal);
      await new Promise((resume) => signal.addEventListener("abort", resume, { once: true }));
      return undefined;
    }
    const choice = (index: number) => ({ index, message: { content: "no JSON" }, finish_reason: "stop" });
    return { completion: { fields: { choices: [choice(0), choice(1)] }, json: "" }, usage };
  };
  const request = { body: { messages: [{ role: "user", content: "Say." }], n: 2 }, format: { type: "json" as const } };
  const { signal } = new AbortController();
  const answer = checkedAnswer(request, signal, { complete, deployment: "one" });
  await expect(answer).rejects.toMatchObject({ kind: "upstream-failed" });
  expect(running.map(({ aborted }) => aborted)).toEqual([true]);
});

/** Starts a thread, so its start is not measured. */
beforeAll(async () => {
  const { signal } = new AbortController();
  await compileFormat({ type: "json-schema", schema: {}, param: "warm-up" }, toSchemaRequest({}, signal));
});

const FIFTY = Array.from({ length: 50 }, (_, index) => `p${index}`);

test.each([
  [
    "50 properties with a large pattern",
    {
      type: "object",
      properties: Object.fromEntries(
        FIFTY.map((name) => [name, { type: "string", pattern: "^([a-z]{1,40}|[0-9]{2,20}){1,9}$" }]),
      ),
    },
    JSON.stringify(Object.fromEntries(FIFTY.map((name) => [name, `${"a".repeat(300)}!`]))),
  ],
  ["a pattern that backtracks exponentially", { type: "string", pattern: "^(a+)+\\b$" }, `"${"a".repeat(40)}!"`],
  ["a backreference that does", { type: "string", pattern: "^(a+)+\\1?\\b$" }, `"${"a".repeat(40)}!"`],
])("%s keeps the event loop free with 30 choices", async (_, schema, content) => {
  const choice = (index: number) => ({ index, message: { content }, finish_reason: "stop" });
  const choices = Array.from({ length: 30 }, (_each, index) => choice(index));
  const complete = async () => ({ completion: { fields: { choices }, json: "" }, usage });
  const format = { type: "json-schema" as const, schema, param: "response_format.json_schema.schema" };
  const { signal } = new AbortController();
  // What is left of the request's budget.
  const { budget } = toSchemaRequest({}, signal);
  budget.spend(budget.totalMs - 2_000);
  const { turnMs } = await longestTurnDuring(async () => {
    const answer = checkedAnswer({ body: { messages: [], n: 30 }, format, project: "one" }, signal, {
      complete,
      deployment: "one",
    });
    await expect(answer).rejects.toMatchObject({ used: { completionTokens: expect.any(Number) } });
  });
  expect(turnMs).toBeLessThan(250);
});
