import { expect, test } from "vitest";
import { Fault } from "../../faults.ts";
import { checkedAnswer } from "./checked-answer.ts";
import type { CompleteAnswer } from "./read-completion.ts";

const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0, estimated: false };

test("where one of several choices cannot be asked for again, the others are not waited for nor left running", async () => {
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
