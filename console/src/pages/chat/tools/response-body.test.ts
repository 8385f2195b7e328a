import { expect, test } from "vitest";
import type { ChatBody } from "../chat-body.ts";
import { NO_PARAMETERS } from "../conversation.ts";
import { toResponseBody } from "./response-body.ts";
import { toCitation, toServiceCall, usesServiceTools } from "./service-tools.ts";

test("asks the Responses API the same, with the tools of the service", () => {
  const body: ChatBody = {
    model: "m",
    messages: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "image_url", image_url: { url: "data:," } },
          { type: "text", text: "What?" },
        ],
      },
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }],
      },
      { role: "tool", tool_call_id: "c", content: "1" },
    ],
    tools: [{ type: "function", function: { name: "f", parameters: {} } }],
    tool_choice: { type: "function", function: { name: "f" } },
    ...{ max_completion_tokens: 9, temperature: 0, stream: true, stream_options: { include_usage: true } },
  };
  const parameters = { ...NO_PARAMETERS, vectorStores: ["vs_1"], webSearch: true };
  expect(usesServiceTools(parameters)).toBe(true);
  expect(usesServiceTools(NO_PARAMETERS)).toBe(false);
  expect(toResponseBody(body, parameters)).toEqual({
    ...{ model: "m", temperature: 0, max_output_tokens: 9, store: false, stream: true },
    input: [
      { role: "system", content: "Be brief." },
      {
        role: "user",
        content: [
          { type: "input_image", detail: "auto", image_url: "data:," },
          { type: "input_text", text: "What?" },
        ],
      },
      { type: "function_call", call_id: "c", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "c", output: "1" },
    ],
    tools: [
      { type: "file_search", vector_store_ids: ["vs_1"] },
      { type: "web_search" },
      { type: "function", strict: null, name: "f", parameters: {} },
    ],
    tool_choice: { type: "function", name: "f" },
    include: ["file_search_call.results", "web_search_call.action.sources"],
  });
});

test("reads calls and sources, and leaves out addresses that are not of the web", () => {
  const results = [{ filename: "a.md", text: "A", score: 0.5 }];
  expect(toServiceCall({ id: "1", type: "file_search_call", status: "completed", queries: ["q"], results })).toEqual({
    ...{ id: "1", type: "file_search_call", status: "completed", queries: ["q"] },
    results: [{ title: "a.md", text: "A", score: 0.5 }],
  });
  expect(toServiceCall({ id: "2", type: "message" })).toBeUndefined();
  expect(toCitation({ type: "file_citation", filename: "a.md" })).toEqual({ title: "a.md" });
  expect(toCitation({ type: "url_citation", url: "https://a.example", title: "A" })).toMatchObject({ title: "A" });
  expect(toCitation({ type: "url_citation", url: "javascript:alert(1)", title: "A" })).toBeUndefined();
});
