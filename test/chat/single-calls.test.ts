/** `parallel_tool_calls: false` where the upstream does not heed it: the caller gets the first call alone, in every format. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";
import { startUsageUpstream, type UsageUpstream } from "../support/upstreams/usage-upstream.ts";

const parameters = { type: "object", properties: {} };
const functions = ["f", "g"].map((name) => ({ name, parameters }));
const messages = [{ role: "user", content: "Hi" }];
const single = { type: "auto", disable_parallel_tool_use: true };

const FORMATS: Record<string, { path: string; body: object }> = {
  chat: {
    path: "/v1/chat/completions",
    body: {
      messages,
      tools: functions.map((each) => ({ type: "function", function: each })),
      parallel_tool_calls: false,
    },
  },
  responses: {
    path: "/v1/responses",
    body: { input: "Hi", tools: functions.map((each) => ({ type: "function", ...each })), parallel_tool_calls: false },
  },
  messages: {
    path: "/v1/messages",
    body: {
      ...{ messages, max_tokens: 50, tool_choice: single },
      tools: functions.map(({ name }) => ({ name, input_schema: parameters })),
    },
  },
};

let upstream: UsageUpstream;
let service: Service;
beforeAll(async () => {
  upstream = await startUsageUpstream();
  upstream.answer({ usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }, calls: ["f", "g"] });
  const deployments = [{ engine: "openai-compatible", base_url: upstream.baseUrl }];
  const models = [{ id: "far", task: "chat", deployments }];
  service = await startService({ config: JSON.stringify({ builtin_models: false, models }) });
});
afterAll(async () => {
  await service.stop();
  await upstream[Symbol.asyncDispose]();
});

test.each(
  Object.entries(FORMATS).flatMap(([name, format]) => [false, true].map((stream) => ({ name, stream, ...format }))),
)("passes one call on in $name, stream: $stream", async ({ path, body, stream }) => {
  const answer = await service.post(path, { model: "far", stream, ...body });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  expect(text).toContain("call_0");
  expect(text).not.toContain("call_1");
  expect(text).toContain("Hi");
});

test("passes both calls on without the parameter", async () => {
  const { path, body } = FORMATS.chat as { path: string; body: object };
  const answer = await service.post(path, { model: "far", ...body, parallel_tool_calls: true });
  expect(await answer.text()).toContain("call_1");
});
