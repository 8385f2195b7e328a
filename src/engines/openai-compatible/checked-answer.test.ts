import { expect, test } from "vitest";
import { makeChatRequest } from "../../../test/support/chat-request.ts";
import { Fault } from "../../faults.ts";
import type { ChatRequest } from "../chat-model.ts";
import { toWireCompletion } from "../wire-completion.ts";
import { checkedAnswer } from "./checked-answer.ts";
import type { WholeAnswer } from "./completion.ts";

const usage = { promptTokens: 1, completionTokens: 1, cachedTokens: 0, reasoningTokens: 0, estimated: false };

test("where one of several choices cannot be asked for again, the others are not waited for nor left running", async () => {
  const running: AbortSignal[] = [];
  let asked = 0;
  const complete = async (_request: ChatRequest, signal: AbortSignal): Promise<WholeAnswer | undefined> => {
    asked += 1;
    if (asked === 2) throw new Fault("upstream-failed", "It broke.");
    if (asked > 2) {
      running.push(signal);
      await new Promise((resume) => signal.addEventListener("abort", resume, { once: true }));
      return undefined;
    }
    const choice = (index: number) => ({ index, message: { content: "no JSON" }, finish_reason: "stop" });
    return { completion: toWireCompletion({ choices: [choice(0), choice(1)] }), usage };
  };
  const request = makeChatRequest({ format: { type: "json" }, choices: 2, stream: false });
  const { signal } = new AbortController();
  const answer = Array.fromAsync(checkedAnswer(request, signal, { complete, deployment: "one" }));
  await expect(answer).rejects.toMatchObject({ kind: "upstream-failed" });
  expect(running.map(({ aborted }) => aborted)).toEqual([true]);
});
