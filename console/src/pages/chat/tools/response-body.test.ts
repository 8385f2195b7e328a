import { expect, test } from "vitest";
import { newTurn, toChatBody } from "../chat-body.ts";
import { type Answer, NO_PARAMETERS, newConversation, type Parameters, type Turn } from "../conversation.ts";
import { toResponseBody } from "./response-body.ts";
import { type ServiceCall, toCitation, toServiceCall, usesServiceTools, waitingCalls } from "./service-tools.ts";

const answer = (part: Partial<Answer>): Answer => ({
  ...{ model: "m", text: "", alternatives: [], reasoning: "", toolCalls: [], state: "done" },
  ...part,
});

function bodyOf(parameters: Partial<Parameters>, turns: readonly Turn[]) {
  const all = { ...NO_PARAMETERS, ...parameters };
  return toResponseBody(toChatBody("m", all, turns, 0), { parameters: all, turns, column: 0 });
}

test("asks the Responses API the same, with the tools of the service", () => {
  const parameters = {
    ...{ system: "Be brief.", temperature: 0, maxTokens: 9, vectorStores: ["vs_1"], webSearch: true, toolChoice: "f" },
    tools: '[{"type": "function", "function": {"name": "f", "parameters": {}}}]',
  };
  const turns = [
    newTurn("What?", {
      images: ["data:,"],
      answers: [answer({ toolCalls: [{ id: "c", name: "f", arguments: "{}" }] })],
    }),
    newTurn("", { toolResults: [{ id: "c", name: "f", content: "1" }] }),
  ];
  expect(usesServiceTools({ ...NO_PARAMETERS, ...parameters })).toBe(true);
  expect(usesServiceTools(NO_PARAMETERS)).toBe(false);
  expect(bodyOf(parameters, turns)).toEqual({
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

const mcpItem = { server_label: "wiki", name: "search", arguments: '{"q":"otters"}' };
const call = (item: object) => toServiceCall({ status: "completed", ...item }) as ServiceCall;

test("sends calls over MCP, and decisions about those that wait, in their order", () => {
  const done = call({ id: "mcp_1", type: "mcp_call", output: "Trout.", ...mcpItem });
  const request = call({ id: "mcpr_1", type: "mcp_approval_request", ...mcpItem });
  const approvals = [{ id: "mcpr_1", approve: true, server: "wiki", tool: "search" }];
  const turns = [
    newTurn("What do otters eat?", { answers: [answer({ text: "I look.", serviceCalls: [done, request] })] }),
    newTurn("", { approvals }),
  ];
  const allowedTools = [{ server: "wiki", tool: "read" }];
  const { input, tools } = bodyOf({ mcpServers: ["wiki", "files"], allowedTools }, turns);
  expect(waitingCalls(turns[0]?.answers[0]?.serviceCalls)).toEqual([request]);
  expect(input).toEqual([
    { role: "user", content: "What do otters eat?" },
    { type: "mcp_call", id: "mcp_1", ...mcpItem, approval_request_id: null, output: "Trout." },
    { type: "mcp_approval_request", id: "mcpr_1", ...mcpItem },
    { role: "assistant", content: "I look." },
    { type: "mcp_approval_response", approval_request_id: "mcpr_1", approve: true },
  ]);
  expect(tools).toEqual([
    { type: "mcp", server_label: "wiki", require_approval: { never: { tool_names: ["read"] } } },
    { type: "mcp", server_label: "files", require_approval: "always" },
  ]);
  expect(newConversation(["m"], { ...NO_PARAMETERS, allowedTools }).parameters).not.toHaveProperty("allowedTools");
});

test("sends code and images of earlier answers, so that the model goes on with them", () => {
  const outputs = [
    { type: "logs", logs: "2" },
    { type: "image", url: "data:image/svg+xml;base64,AA==" },
  ];
  const code = call({ id: "ci_1", type: "code_interpreter_call", code: "1 + 1", container_id: "cntr_1", outputs });
  const image = call({ id: "ig_1", type: "image_generation_call", result: "AAAA", revised_prompt: "An otter" });
  expect(code.images).toEqual([]);
  expect(image.images).toEqual(["data:image/png;base64,AAAA"]);
  const turns = [newTurn("Draw", { answers: [answer({ serviceCalls: [code, image] })] }), newTurn("Again")];
  const { input, tools, include } = bodyOf({ codeInterpreter: true, imageGeneration: true }, turns);
  expect(input).toEqual([
    { role: "user", content: "Draw" },
    {
      ...{ type: "code_interpreter_call", id: "ci_1", status: "completed", code: "1 + 1", container_id: "cntr_1" },
      outputs: [{ type: "logs", logs: "2" }],
    },
    { type: "image_generation_call", id: "ig_1", status: "completed", result: "AAAA", revised_prompt: "An otter" },
    { role: "user", content: "Again" },
  ]);
  expect(tools).toEqual([{ type: "code_interpreter", container: { type: "auto" } }, { type: "image_generation" }]);
  expect(include).toEqual(["code_interpreter_call.outputs"]);
});

test("reads calls, their errors and sources, and leaves out addresses that are not of the web", () => {
  const results = [{ filename: "a.md", text: "A", score: 0.5 }];
  expect(toServiceCall({ id: "1", type: "file_search_call", status: "completed", queries: ["q"], results })).toEqual({
    ...{ id: "1", type: "file_search_call", status: "completed", queries: ["q"] },
    results: [{ title: "a.md", text: "A", score: 0.5 }],
  });
  const error = { type: "mcp_tool_execution_error", content: [{ type: "text", text: "no such page" }] };
  expect(call({ id: "2", type: "mcp_call", status: "failed", error, ...mcpItem })).toMatchObject({
    error: "no such page",
    mcp: { server: "wiki", tool: "search" },
  });
  expect(call({ id: "3", type: "mcp_call", output: "x".repeat(60_000), ...mcpItem }).results[0]?.text).toHaveLength(
    50_001,
  );
  expect(toServiceCall({ id: "4", type: "message" })).toBeUndefined();
  expect(toCitation({ type: "file_citation", filename: "a.md" })).toEqual({ title: "a.md" });
  expect(toCitation({ type: "url_citation", url: "https://a.example", title: "A" })).toMatchObject({ title: "A" });
  expect(toCitation({ type: "url_citation", url: "javascript:alert(1)", title: "A" })).toBeUndefined();
});
