/** MCP tools of a session: lists those of a new configuration, and opens them for its responses. */

import type { Caller } from "../../contracts/caller.ts";
import { Fault, unsupportedValue } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { toMcpItem, toResponsesItems, toSentTool } from "../../wire/realtime/mcp-items.ts";
import type { SessionSettings } from "../../wire/realtime/session-settings.ts";
import { throwRenamed } from "../../wire/rename-params.ts";
import type { SentTool } from "../../wire/responses/responses-tools.ts";
import type { CallContext, OpenTools } from "../tools/index.ts";
import type { Conversation } from "./conversation.ts";
import { type SessionContext, untilAborted } from "./session-context.ts";

type Tools = SessionSettings["tools"];

export class SessionTools {
  readonly #context: SessionContext;
  readonly #conversation: Conversation;
  /** Lists that have not arrived. */
  #listing: Promise<void> | undefined;
  /** The newest configuration, which is listed next. */
  #wanted: Tools | undefined;

  constructor(context: SessionContext, conversation: Conversation) {
    this.#context = context;
    this.#conversation = conversation;
  }

  /** Throws a Fault for a tool that this service does not run. `path`: of `tools`. */
  check(tools: Tools, caller: Caller, path: string): void {
    const sent = mcpTools(tools);
    if (sent.length === 0) return;
    const positions = renamed(path, tools, () => this.#context.services.tools.servedBy({ tools: sent }, caller));
    const index = sent.findIndex((_, position) => positions?.has(position) !== true);
    if (index === -1) return;
    const param = `${path}[${positionsOf(tools)[index]}].server_label`;
    const message = `There is no MCP server '${sent[index]?.server_label}' here: ask the operator to add it to 'mcp_servers' (the setting mcp.caller_servers admits addresses).`;
    throw unsupportedValue(message, param);
  }

  /** Throws a Fault for tools that the project of the caller has turned off. `owner`: which has them, for the error. */
  checkAccess(tools: Tools, caller: Caller, owner: "session" | "response"): void {
    const { access } = this.#context.services.tools;
    renamed(`${owner}.tools`, tools, () => access.checkAll(caller, mcpTools(tools)));
  }

  /**
   * Lists the tools of servers that no item of the conversation lists, after the lists before: a client can name other
   * servers as often as it likes. The lists of one configuration count as a request. Failures become events.
   */
  list(tools: Tools): void {
    this.#wanted = tools;
    this.#listing ??= this.#listWanted();
  }

  /** Resolves once the tools are listed. */
  async settled(): Promise<void> {
    await this.#listing;
  }

  /** Opens the tools for a response; undefined: it has none of them. Throws a Fault. */
  opener(tools: Tools, names: readonly string[]): ((context: CallContext) => Promise<OpenTools>) | undefined {
    const sent = mcpTools(tools);
    if (sent.length === 0) return undefined;
    const read = {
      tools: [],
      names: new Map(names.map((name) => [name, { type: "function" as const, name, namespace: undefined }])),
    };
    return (context) => {
      const items = toResponsesItems(this.#conversation.items);
      const positions = new Set(sent.keys());
      return this.#context.services.tools.open({ tools: sent }, read, positions, { ...context, items, include: [] });
    };
  }

  async #listWanted(): Promise<void> {
    for (let tools = this.#wanted; tools !== undefined; tools = this.#wanted) {
      this.#wanted = undefined;
      const listed = new Set(this.#conversation.items.flatMap((item) => labelOf(item) ?? []));
      const unlisted = mcpTools(tools).filter(({ server_label: label }) => !listed.has(String(label)));
      let counting: Promise<unknown> | undefined;
      const count = async (caller: Caller) => {
        const { services, settings } = this.#context;
        counting ??= services.inference.countEarly(caller, settings().model, "chat");
        await counting;
      };
      await Promise.all(unlisted.map((tool) => this.#list(tool, count)));
    }
    this.#listing = undefined;
  }

  /** `count`: counts the lists of a configuration as one request. Throws a Fault. */
  async #list(tool: SentTool, count: (caller: Caller) => Promise<void>): Promise<void> {
    const { send, signal, services } = this.#context;
    const item = toMcpItem({ ...emptyList(tool), id: newId("mcpl_") });
    const previous_item_id = this.#conversation.add(item);
    this.#trim();
    send({ type: "conversation.item.added", previous_item_id, item: structuredClone(item) });
    send({ type: "mcp_list_tools.in_progress", item_id: item.id });
    try {
      const caller = await this.#context.authenticate();
      await count(caller);
      const open = await untilAborted(signal, (onDisconnect) => {
        const guardsOf = (name: string) => services.inference.guardsOfTool(caller, name, onDisconnect);
        const context = { caller, signal, runTool: refuseToRun, guardsOf, items: [], include: [] };
        return services.tools.open({ tools: [tool] }, { tools: [], names: new Map() }, FIRST, context);
      });
      await open.close();
      const listed = open.items.findLast((event) => event.type === "item-stop");
      if (listed?.type === "item-stop") item.tools = listed.item.tools;
      this.#conversation.measure(item.id);
      send({ type: "conversation.item.done", previous_item_id, item });
      send({ type: "mcp_list_tools.completed", item_id: item.id });
      this.#trim();
    } catch (failure) {
      if (signal.aborted) return;
      // The next response asks the server again.
      this.#remove(item.id);
      send({ type: "mcp_list_tools.failed", item_id: item.id, error: this.#context.toError(failure) });
    }
  }

  #trim(): void {
    for (const item_id of this.#conversation.trim()) {
      this.#context.send({ type: "conversation.item.deleted", item_id });
    }
  }

  #remove(id: string): void {
    // The client may have deleted it.
    if (this.#conversation.items.some((each) => each.id === id)) this.#conversation.remove(id);
  }
}

const FIRST: ReadonlySet<number> = new Set([0]);

function mcpTools(tools: Tools): SentTool[] {
  return tools.filter((tool) => tool.type === "mcp").map(toSentTool);
}

/** Returns the positions of MCP tools among all. */
function positionsOf(tools: Tools): number[] {
  return tools.flatMap((tool, index) => (tool.type === "mcp" ? [index] : []));
}

function labelOf(item: { type: string; server_label?: unknown }): string | undefined {
  return item.type === "mcp_list_tools" ? String(item.server_label) : undefined;
}

function emptyList({ server_label }: SentTool) {
  return { type: "mcp_list_tools", server_label, tools: [] };
}

function renamed<Result>(path: string, tools: Tools, read: () => Result): Result {
  try {
    return read();
  } catch (failure) {
    const names = positionsOf(tools).map((position, index): [RegExp, string] => [
      new RegExp(`^tools\\[${index}\\]`),
      `${path}[${position}]`,
    ]);
    throwRenamed(failure, names);
  }
}

const refuseToRun = async (): Promise<never> => {
  throw new Fault("unavailable", "A list of tools runs none of them.");
};
