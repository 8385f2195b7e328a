/** Messages with MCP servers and server tools that this service asks: their tools run in the loop of responses. */

import type { Caller } from "../../contracts/caller.ts";
import { runWithin } from "../../http/answer-chat.ts";
import { Fault, unsupportedValue } from "../../kernel/faults.ts";
import { deferredInToolsets, deferredTools, referencedTools } from "../../wire/anthropic/deferred-tools.ts";
import { type MessageChat, messagesFormat } from "../../wire/anthropic/messages.ts";
import { enabledTools, inServers, MCP_TOOLSET, toServiceTools } from "../../wire/anthropic/messages-mcp.ts";
import {
  isServerTool,
  maxUses,
  SERVER_TOOL_INCLUDES,
  toServerTool,
} from "../../wire/anthropic/messages-server-tools.ts";
import { toTools } from "../../wire/anthropic/messages-tools.ts";
import type { DeferredFunction, SentTool, ToolName } from "../../wire/responses/responses-tools.ts";
import { toTypedCall } from "../../wire/typed-call.ts";
import { closedOnFailure, type LoopRequest, type OpenTools, type ServiceTools } from "../tools/index.ts";

/**
 * Returns the request of a tool loop; undefined: this service runs none of the tools. `isNative`: an upstream with the
 * Messages API may answer, which has server tools. Throws a Fault.
 */
export function toMessagesLoop(
  tools: ServiceTools,
  chat: MessageChat,
  caller: Caller,
  isNative: () => boolean,
): LoopRequest | undefined {
  const { mcp_servers: servers = [], tools: sent = [] } = chat.body;
  const check = (current: Caller) => {
    if (servers.length > 0) tools.access.check(current, "mcp", "mcp_servers");
    tools.access.checkAll(current, sent);
  };
  check(caller);
  const hosted = sent.flatMap((tool, index) => (isServerTool(tool) ? [{ tool, index }] : []));
  const serverTools = hosted.length > 0 && servers.length === 0 && isNative() ? [] : hosted;
  if (servers.length + serverTools.length === 0) return undefined;
  const ofServers = toServiceTools(servers);
  const serviceTools = [...ofServers, ...serverTools.map(({ tool }) => toServerTool(tool))];
  const indexes = serverTools.map(({ index }) => index);
  const renamed = <Result>(read: () => Result) => renamedIn(read, ofServers.length, indexes);
  const positions = renamed(() => tools.servedBy({ tools: serviceTools }, caller));
  if (positions === undefined) return undefined;
  const served = serverTools.flatMap(({ tool }, index) => (positions.has(ofServers.length + index) ? [tool] : []));
  const types = new Set<unknown>([MCP_TOOLSET, ...served.map(({ type }) => type)]);
  const elsewhere = servers.findIndex((_, index) => !positions.has(index));
  if (elsewhere !== -1) {
    const message = `'mcp_servers[${elsewhere}].url' is an address, which does not mix with servers of the operator: the setting mcp.caller_servers admits addresses.`;
    throw unsupportedValue(message, `mcp_servers[${elsewhere}].url`);
  }
  const isEnabled = enabledTools(servers, sent);
  // From here on, no upstream gets the body.
  chat.mcp = { types, names: new Map(), functions: [] };
  return {
    model: chat.model,
    maxCalls: servers.length === 0 ? maxUses(served) : undefined,
    check,
    open: async (context) => {
      const callerTools = sent.filter((tool) => !served.includes(tool));
      const names = new Map(callerTools.map(({ name }) => [String(name), toName(String(name))]));
      const prior = { items: [], include: SERVER_TOOL_INCLUDES, isTransient: true };
      const read = { tools: [], names, deferred: toDeferred(chat.body) };
      const run = { ...context, ...prior };
      const defers = deferredInToolsets(chat.body);
      const open = await renamed(() =>
        tools.open({ tools: serviceTools }, read, positions, run, defers).catch((failure: unknown) => {
          throw renameIn(failure, ofServers.length, indexes);
        }),
      );
      return closedOnFailure(open.close, () => {
        for (const name of referencedTools(chat.body)) open.deferred.load({ name });
        refuseApprovals(serviceTools, open);
        const functions = new Map(
          [...open.functions].filter(
            ([, { serverLabel, name }]) => serverLabel === undefined || isEnabled(serverLabel, name),
          ),
        );
        chat.mcp = {
          types,
          names: new Map([...functions].map(([name, each]) => [each.name, name])),
          functions: [...functions.values()].map(({ definition }) => definition),
        };
        return { ...open, functions };
      });
    },
    ask: (run) => runWithin(messagesFormat, chat, (each) => run(toTypedCall(messagesFormat.call(each)))),
  };
}

function toDeferred(body: MessageChat["body"]): DeferredFunction[] {
  const references = referencedTools(body);
  return deferredTools(body).flatMap((tool) => {
    const sent = tool as SentTool;
    return toTools([sent]).map((definition) => {
      const { name } = definition;
      const isLoaded = references.has(name);
      return { name, namespace: undefined, namespaceDescription: undefined, definition, sent, isLoaded };
    });
  });
}

function toName(name: string): ToolName {
  return { type: "function", name, namespace: undefined };
}

/** Refuses servers whose calls the operator wants approved: Messages has no approvals. */
function refuseApprovals(sent: readonly SentTool[], { functions }: OpenTools): void {
  const needing = [...functions.values()].find(({ needsApproval }) => needsApproval === true);
  if (needing === undefined) return;
  const index = sent.findIndex(({ server_label: label }) => label === needing.serverLabel);
  const message = `Calls of the server '${needing.serverLabel}' need an approval, which Messages does not have: use /v1/responses.`;
  throw unsupportedValue(message, `mcp_servers[${index}].name`);
}

function renamedIn<Result>(read: () => Result, serverCount: number, indexes: readonly number[]): Result {
  try {
    return read();
  } catch (failure) {
    throw renameIn(failure, serverCount, indexes);
  }
}

/** Returns a failure with the names of the fields in Messages: the first tools are servers, the others have `indexes`. */
function renameIn(failure: unknown, serverCount: number, indexes: readonly number[]): unknown {
  if (!(failure instanceof Fault)) return failure;
  const position = Number(/\btools\[(\d+)\]/.exec(`${failure.param} ${failure.message}`)?.[1] ?? 0);
  const create = (message: string, param: string | undefined) =>
    new Fault(failure.kind, message, { ...failure, param });
  if (position < serverCount) return inServers(failure, create);
  // Domains are filters in Responses.
  const rename = (text: string) =>
    text.replaceAll("filters.", "").replaceAll(/\btools\[\d+\]/g, `tools[${indexes[position - serverCount]}]`);
  return create(rename(failure.message), failure.param === undefined ? undefined : rename(failure.param));
}
