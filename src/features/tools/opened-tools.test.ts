/** Tools that have opened close where anything fails before their answer begins. */

import { expect, test } from "vitest";
import { BodyMemory } from "../../http/body-memory.ts";
import { messagesFormat } from "../../wire/anthropic/messages.ts";
import type { FormatContext } from "../../wire/chat-format.ts";
import { chatCompletionsFormat } from "../../wire/openai/chat/chat-completions.ts";
import { responsesFormat } from "../../wire/responses/responses-format.ts";
import { toSearchLoop } from "../chat/search-loop.ts";
import { toMessagesLoop } from "../messages/messages-loop.ts";
import { toResponseLoop } from "../responses/response-loop.ts";
import type { ServiceFunction, ServiceTool, ServiceToolType, ToolContext } from "./service-tool.ts";
import { type OpenTools, ServiceTools } from "./service-tools.ts";
import type { LoopRequest } from "./tool-loop.ts";

const MEGABYTE = 1024 ** 2;
const CALLER = { kind: "project", organizationId: "org", projectId: "proj", keyId: "key" } as const;
const CALL = {
  caller: CALLER,
  signal: new AbortController().signal,
  runTool: async () => {
    throw new Error("no tool is called");
  },
  guardsOf: () => undefined,
};
const CONTEXT = { requestId: "req", callerHeaders: {}, unknownFields: "ignore" } as unknown as FormatContext;
const MESSAGES = [{ role: "user", content: "Hm." }];
const BODY = { model: "m", messages: MESSAGES };
const TOOLS = [{ type: "mcp", server_label: "crm" }];
const begin = (loop: LoopRequest | undefined) => (loop as LoopRequest).open(CALL);

/** How each API opens tools. */
const WAYS: Record<string, (tools: ServiceTools) => Promise<OpenTools>> = {
  chat: (tools) => {
    const chat = chatCompletionsFormat.read({ ...BODY, web_search_options: {} }, CONTEXT);
    return begin(toSearchLoop(tools, chat, CALLER, () => false));
  },
  messages: (tools) => {
    const toolset = { type: "mcp_toolset", mcp_server_name: "crm", default_config: { defer_loading: true } };
    const server = { type: "url", name: "crm" };
    const body = { ...BODY, max_tokens: 9, mcp_servers: [server], tools: [toolset] };
    return begin(toMessagesLoop(tools, messagesFormat.read(body, CONTEXT), CALLER, () => false));
  },
  responses: (tools) => {
    const chat = responsesFormat.read({ model: "m", input: "Hm.", tools: TOOLS }, CONTEXT);
    return begin(toResponseLoop(tools, new Set([0]), chat));
  },
  realtime: (tools) => {
    const context = { ...CALL, items: [], include: [] };
    return tools.open({ tools: TOOLS }, { tools: [], names: new Map() }, new Set([0]), context);
  },
};

/** A tool that holds a megabyte. `watch`: sees what is read of it once it is open. */
function openHolding(watch: (property: string) => void, given: Partial<ServiceFunction> = {}) {
  const memory = new BodyMemory(16 * MEGABYTE);
  const tools = new ServiceTools(() => [], memory);
  let isOpen = false;
  let closed = 0;
  const watched = <Target extends object>(target: Target): Target =>
    new Proxy(target, {
      get: (each, property, receiver) => {
        // `then`: whether it is a promise.
        if (isOpen && property !== "close" && property !== "then") watch(String(property));
        return Reflect.get(each, property, receiver);
      },
    });
  const open = async (_sent: unknown, { functionName, hold }: ToolContext): Promise<ServiceTool> => {
    hold(MEGABYTE);
    const name = functionName("read", "crm");
    const definition = { name, description: undefined, parameters: {}, param: "tools[0]" };
    const begin = () => {
      throw new Error("no tool is called");
    };
    const read = watched<ServiceFunction>({ definition, name: "read", serverLabel: "crm", begin, ...given });
    isOpen = true;
    const close = async () => {
      closed += 1;
    };
    return watched<ServiceTool>({ functions: [read], close });
  };
  const type = (name: string) => watched<ServiceToolType>({ type: name, includes: [], serves: () => true, open });
  for (const name of ["mcp", "web_search"]) tools.register(type(name));
  return { tools, memory, closed: () => closed };
}

test.each(Object.entries(WAYS))("nothing of %s stays open after a failure at any step", async (_name, open) => {
  const failures: (string | undefined)[] = [];
  do {
    let reads = 0;
    let failure: string | undefined;
    const { tools, memory, closed } = openHolding((property) => {
      reads += 1;
      if (reads <= failures.length || failure !== undefined) return;
      failure = property;
      throw new Error(`no ${property}`);
    });
    const opened = await open(tools).catch(() => undefined);
    expect(opened === undefined).toBe(failure !== undefined);
    expect([failure, memory.heldBytes, closed()]).toEqual([
      failure,
      ...(opened === undefined ? [0, 1] : [MEGABYTE, 0]),
    ]);
    failures.push(failure);
  } while (failures.at(-1) !== undefined);
  expect(failures).toEqual(expect.arrayContaining(["functions", "definition", "includes", "items", "calls"]));
});

test("nothing of a server stays open whose calls Messages cannot have approved", async () => {
  const { tools, memory, closed } = openHolding(() => {}, { needsApproval: true });
  await expect(WAYS.messages?.(tools)).rejects.toMatchObject({ param: "mcp_servers[0].name" });
  expect([memory.heldBytes, closed()]).toEqual([0, 1]);
});
