import { expect, test } from "vitest";
import { Messages, SystemPrompt, toChatMessages } from "./messages-content.ts";

const use = (id: string) => ({ type: "mcp_tool_use", id, name: "add", server_name: "math", input: { a: 1 } });
const result = (id: string, text: string, isError = false) => ({
  type: "mcp_tool_result",
  tool_use_id: id,
  is_error: isError,
  content: [{ type: "text", text }],
});
const convert = (content: object[]) =>
  toChatMessages(
    undefined,
    Messages.parse([
      { role: "user", content: "Hi" },
      { role: "assistant", content },
    ]),
  ).slice(1);
const call = (id: string) => ({ id, name: "math__add", arguments: '{"a":1}' });

test("converts calls of MCP tools and their results to turns of the model", () => {
  const content = [
    { type: "text", text: "First." },
    use("1"),
    use("2"),
    result("2", "four"),
    result("1", "no such page", true),
    use("3"),
    result("3", "six"),
    { type: "text", text: "Six." },
  ];

  expect(convert(content)).toEqual([
    { role: "assistant", content: "First.", toolCalls: [call("1"), call("2")] },
    { role: "tool", toolCallId: "1", content: "The tool failed: no such page" },
    { role: "tool", toolCallId: "2", content: "four" },
    { role: "assistant", content: "", toolCalls: [call("3")] },
    { role: "tool", toolCallId: "3", content: "six" },
    { role: "assistant", content: "Six." },
  ]);
});

test("answers a call of an MCP tool that did not run", () => {
  expect(convert([use("1")])).toEqual([
    { role: "assistant", content: "", toolCalls: [call("1")] },
    { role: "tool", toolCallId: "1", content: "The call did not run." },
  ]);
});

test("refuses a result without its call", () => {
  expect(() => convert([result("1", "four")])).toThrow(
    "Invalid value for 'messages[1].content[0].tool_use_id': no mcp_tool_use block before it has this ID.",
  );
});

test.each([
  [
    "a block",
    [
      { type: "text", text: "x-anthropic-billing-header: cc_version=2.1; cch=0f3a1;" },
      { type: "text", text: "Be brief." },
    ],
  ],
  ["no block", [{ type: "text", text: "Be brief." }]],
  ["a text", "Be brief."],
])("leaves Claude Code's billing header out of the prompt of other models: %s", (_name, system) => {
  const messages = toChatMessages(SystemPrompt.parse(system), Messages.parse([{ role: "user", content: "Hi" }]));
  expect(messages).toEqual([
    { role: "system", content: "Be brief." },
    { role: "user", content: "Hi" },
  ]);
});

test("gives a model the results of server tools again", () => {
  const text = "【w1】 Spring tides\nhttps://tides.example\nA spring tide follows the new moon.";
  const result = { type: "web_search_result", url: "https://tides.example", title: "Spring tides" };
  const messages = toChatMessages(undefined, [
    { role: "user", content: "When?" },
    {
      role: "assistant",
      content: [
        { type: "server_tool_use", id: "srvtoolu_1", name: "web_search", input: { query: "tide" } },
        {
          type: "web_search_tool_result",
          tool_use_id: "srvtoolu_1",
          content: [{ ...result, encrypted_content: Buffer.from(text).toString("base64") }],
        },
        { type: "text", text: "At new moon." },
      ],
    },
  ]);
  expect(messages).toMatchObject([
    { role: "user" },
    { role: "assistant", toolCalls: [{ id: "srvtoolu_1", arguments: '{"query":"tide"}' }] },
    { role: "tool", toolCallId: "srvtoolu_1", content: text },
    { role: "assistant", content: "At new moon." },
  ]);
});
