/** Tools that OpenAI defines and the caller runs, with the official client: calls, results and the next turn. */

import type OpenAI from "openai";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Service, startService } from "../support/service/service.ts";

const PIXEL =
  "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const PATCH = { type: "update_file", path: "a.txt", diff: "@@\n-old\n+new" };
const CALLS = {
  shell: { commands: ["ls -l", "pwd"], timeout_ms: 5000 },
  local_shell: { command: ["ls", "-l"], env: { A: "1" }, working_directory: "/tmp" },
  apply_patch: PATCH,
  computer: { type: "click", x: 3, y: 4, button: "left" },
};

let service: Service;
let client: OpenAI;
beforeAll(async () => {
  const calls = Object.entries(CALLS).map(
    ([name, call]) => `{ match: "use ${name}", tool_calls: [{ name: ${name}, arguments: ${JSON.stringify(call)} }] }`,
  );
  service = await startService({
    config: `
builtin_models: false
responses: { hosted_tools: ignore }
models:
  - id: agent
    task: chat
    deployments:
      - engine: scripted
        abilities: { tools: true, vision: true }
        replies:
          - { match_tool: "/exit_code|total|failed|^$/", text: "I have read it." }
          - ${calls.join("\n          - ")}
          - { text: "No tool." }
`,
  });
  client = service.client();
});
afterAll(() => service?.stop());

type Tool = OpenAI.Responses.Tool;
type Item = OpenAI.Responses.ResponseInputItem;

interface Case {
  name: keyof typeof CALLS;
  tool: Tool;
  call: object;
  result(callId: string): Item;
}

const CASES: Record<string, Case> = {
  shell: {
    name: "shell",
    tool: { type: "shell", environment: { type: "local" } },
    call: {
      type: "shell_call",
      status: "completed",
      action: { ...CALLS.shell, max_output_length: null },
      environment: { type: "local" },
    },
    result: (call_id) => ({
      type: "shell_call_output",
      call_id,
      output: [{ stdout: "total 0", stderr: "", outcome: { type: "exit", exit_code: 0 } }],
    }),
  },
  local_shell: {
    name: "local_shell",
    tool: { type: "local_shell" },
    call: { type: "local_shell_call", status: "completed", action: { type: "exec", ...CALLS.local_shell } },
    result: (id) => ({ type: "local_shell_call_output", id, output: "total 0" }),
  },
  apply_patch: {
    name: "apply_patch",
    tool: { type: "apply_patch" },
    call: { type: "apply_patch_call", status: "completed", operation: PATCH },
    result: (call_id) => ({ type: "apply_patch_call_output", call_id, status: "failed", output: "no such file" }),
  },
  computer: {
    name: "computer",
    tool: { type: "computer" },
    call: { type: "computer_call", status: "completed", pending_safety_checks: [], actions: [CALLS.computer] },
    result: (call_id) => ({
      type: "computer_call_output",
      call_id,
      output: { type: "computer_screenshot", image_url: PIXEL },
    }),
  },
  computer_use_preview: {
    name: "computer",
    tool: { type: "computer_use_preview", display_width: 800, display_height: 600, environment: "browser" },
    call: { type: "computer_call", status: "completed", pending_safety_checks: [], action: CALLS.computer },
    result: (call_id) => ({
      type: "computer_call_output",
      call_id,
      output: { type: "computer_screenshot", image_url: PIXEL },
    }),
  },
};

describe.each(Object.keys(CASES))("%s", (type) => {
  const { name, tool, call, result } = CASES[type] as Case;
  const input = `Please use ${name}.`;

  test.each([false, true])("is called with its own item, and reads its result (stored: %s)", async (store) => {
    const first = await client.responses.create({ model: "agent", input, tools: [tool], store });
    const [item] = first.output as unknown as (Item & { call_id: string })[];
    expect(item).toMatchObject(call);
    expect(item?.call_id).toEqual(expect.any(String));
    const output = result(item?.call_id ?? "");
    const second = store
      ? await client.responses.create({
          model: "agent",
          previous_response_id: first.id,
          input: [output],
          tools: [tool],
        })
      : await client.responses.create({
          model: "agent",
          input: [{ role: "user", content: input }, item as Item, output],
          tools: [tool],
          store,
        });
    expect(second.output_text).toBe(name === "computer" ? "No tool." : "I have read it.");
  });

  test("is streamed in the events of the official client", async () => {
    const events = [];
    for await (const event of await client.responses.create({ model: "agent", input, tools: [tool], stream: true })) {
      events.push(event);
    }
    const types = events.map((event) => event.type);
    expect(types.filter((each) => each.startsWith("response.shell_call_command"))).toHaveLength(
      type === "shell" ? 6 : 0,
    );
    const added = events.find((event) => event.type === "response.output_item.added");
    const done = events.find((event) => event.type === "response.output_item.done");
    expect(added?.item).toMatchObject({ type: (call as { type: string }).type, status: "in_progress" });
    expect(done?.item).toMatchObject(call);
    expect(events.map((event) => event.sequence_number)).toEqual(events.map((_event, index) => index));
  });

  test("can be forced", async () => {
    const forced = { model: "agent", input, tools: [tool], tool_choice: { type } as never };
    expect((await client.responses.create(forced)).output[0]).toMatchObject(call);
    const other: Tool = type === "apply_patch" ? { type: "shell" } : { type: "apply_patch" };
    await expect(client.responses.create({ ...forced, tools: [other] })).rejects.toMatchObject({
      status: 400,
      param: "tool_choice.type",
    });
  });
});

test("refuses a shell in a container, which would run at OpenAI, and a second tool of the name", async () => {
  const create = (tools: unknown[]) => client.responses.create({ model: "agent", input: "Hi", tools: tools as Tool[] });
  await expect(create([{ type: "shell", environment: { type: "container_auto" } }])).rejects.toMatchObject({
    status: 400,
    param: "tools[0].environment.type",
  });
  await expect(create([{ type: "shell" }, { type: "function", name: "shell", parameters: {} }])).rejects.toMatchObject({
    status: 400,
    param: "tools[1].name",
  });
});

test("refuses a result without its call, and a screenshot in a file that is not there", async () => {
  const create = (input: unknown[]) => client.responses.create({ model: "agent", input: input as Item[] });
  await expect(create([{ type: "shell_call_output", call_id: "call_x", output: "a" }])).rejects.toMatchObject({
    status: 400,
    param: "input[0].call_id",
  });
  const call = { type: "computer_call", call_id: "call_1", actions: [{ type: "screenshot" }] };
  const output = { type: "computer_screenshot", file_id: "file-1" };
  await expect(create([call, { type: "computer_call_output", call_id: "call_1", output }])).rejects.toMatchObject({
    status: 400,
    param: "input[1].output.file_id",
  });
});

test("ignores hosted tools where the settings say so, and names them", async () => {
  const body = {
    model: "agent",
    input: "Please use shell.",
    tools: [{ type: "web_search" }, { type: "shell" }, { type: "mcp", server_label: "a" }],
  };
  const response = await service.post("/v1/responses", body);
  expect(response.headers.get("x-parlance-ignored-fields")).toBe("tools[0], tools[2]");
  expect(await response.json()).toMatchObject({ output: [{ type: "shell_call" }] });
  const misspelled = await service.post("/v1/responses", { ...body, tools: [{ type: "functoin", name: "f" }] });
  expect(misspelled.status).toBe(400);
});
