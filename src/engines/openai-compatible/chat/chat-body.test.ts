import { expect, test } from "vitest";
import { makeChatRequest } from "../../../../test/support/service/chat-request.ts";
import { toChatBody, toTool } from "./chat-body.ts";

test("omits parameters that the request leaves at their default", () => {
  expect(toChatBody(makeChatRequest({ say: "Hi." }))).toEqual({
    messages: [{ role: "user", content: "Hi." }],
    stream: true,
  });
});

test("writes each field under the name that upstreams read", () => {
  const schema = { type: "object" };
  const tool = { name: "f", description: "does", parameters: schema, param: "tools[0]" };
  const body = toChatBody(
    makeChatRequest({
      ...{ maxTokens: 9, temperature: 0, topP: 0.5, topK: 4, minP: 0.1, seed: 7, stop: ["x"], choices: 2 },
      ...{ frequencyPenalty: 1, presencePenalty: -1, repeatPenalty: 1.1, logitBias: { 5: -100 }, topLogprobs: 0 },
      ...{ reasoningEffort: "low", verbosity: "low", promptCacheKey: "k", parallelToolCalls: false, tools: [tool] },
      toolChoice: { name: "f" },
      format: { type: "json-schema", schema, param: "response_format" },
    }),
  );
  expect(body).toMatchObject({
    ...{ max_tokens: 9, temperature: 0, top_p: 0.5, top_k: 4, min_p: 0.1, seed: 7, stop: ["x"], n: 2 },
    ...{ frequency_penalty: 1, presence_penalty: -1, repetition_penalty: 1.1, logit_bias: { 5: -100 } },
    ...{
      logprobs: true,
      top_logprobs: 0,
      reasoning_effort: "low",
      prompt_cache_key: "k",
      parallel_tool_calls: false,
      verbosity: "low",
    },
    tools: [{ type: "function", function: { name: "f", description: "does", parameters: schema } }],
    tool_choice: { type: "function", function: { name: "f" } },
    response_format: { type: "json_schema", json_schema: { schema } },
  });
});

test("writes images, tool calls and their results as messages", () => {
  const url = "data:image/png;base64,AAAA";
  const param = { type: "messages[0].content[1].type", url: "messages[0].content[1].image_url.url" };
  const { messages } = toChatBody(
    makeChatRequest({
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text: "See:" },
            { type: "image", url, detail: "low", param },
          ],
        },
        { role: "assistant", content: "", toolCalls: [{ id: "a", name: "f", arguments: "{}" }] },
        { role: "tool", content: "done", toolCallId: "a" },
      ],
    }),
  );
  expect(messages).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "See:" },
        { type: "image_url", image_url: { url, detail: "low" } },
      ],
    },
    {
      role: "assistant",
      content: null,
      tool_calls: [{ id: "a", type: "function", function: { name: "f", arguments: "{}" } }],
    },
    { role: "tool", content: "done", tool_call_id: "a" },
  ]);
});

test("asks for arguments that match the schema where the caller does", () => {
  const tool = { name: "add", description: undefined, parameters: {}, param: "" };
  expect(toTool(tool)).not.toHaveProperty("function.strict");
  expect(toTool({ ...tool, isStrict: true })).toHaveProperty("function.strict", true);
});
