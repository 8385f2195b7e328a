/** Messages with `mcp_servers` that this service asks: their tools run in the loop of responses. */

import type { Caller } from "../../contracts/caller.ts";
import { runWithin } from "../../http/answer-chat.ts";
import { Fault, unsupportedValue } from "../../kernel/faults.ts";
import { type MessageChat, messagesFormat } from "../../wire/anthropic/messages.ts";
import { enabledTools, inServers, toServiceTools } from "../../wire/anthropic/messages-mcp.ts";
import type { SentTool, ToolName } from "../../wire/responses/responses-tools.ts";
import { toTypedCall } from "../../wire/typed-call.ts";
import type { LoopRequest, OpenTools, ServiceTools } from "../tools/index.ts";

/** Returns the request of a tool loop; undefined: this service runs none of the servers' tools. Throws a Fault. */
export function toMessagesLoop(tools: ServiceTools, chat: MessageChat, caller: Caller): LoopRequest | undefined {
  const { mcp_servers: servers = [], tools: sent = [] } = chat.body;
  if (servers.length === 0) return undefined;
  const serviceTools = toServiceTools(servers);
  const positions = renamed(() => tools.servedBy({ tools: serviceTools }, caller));
  if (positions === undefined) return undefined;
  const elsewhere = servers.findIndex((_, index) => !positions.has(index));
  if (elsewhere !== -1) {
    const message = `'mcp_servers[${elsewhere}].url' is an address, which does not mix with servers of the operator: the setting mcp.caller_servers admits addresses.`;
    throw unsupportedValue(message, `mcp_servers[${elsewhere}].url`);
  }
  const isEnabled = enabledTools(servers, sent);
  // From here on, no upstream gets the body.
  chat.mcp = { names: new Map(), functions: [] };
  return {
    open: async (context) => {
      const names = new Map(sent.map(({ name }) => [String(name), toName(String(name))]));
      const prior = { items: [], include: [] };
      const read = { tools: [], names };
      const open = await renamed(() =>
        tools.open({ tools: serviceTools }, read, positions, { ...context, ...prior }).catch(rename),
      );
      refuseApprovals(serviceTools, open);
      const functions = new Map(
        [...open.functions].filter(([, { serverLabel = "", name }]) => isEnabled(serverLabel, name)),
      );
      chat.mcp = {
        names: new Map([...functions].map(([name, each]) => [each.name, name])),
        functions: [...functions.values()].map(({ definition }) => definition),
      };
      return { ...open, functions };
    },
    ask: (run) => runWithin(messagesFormat, chat, (each) => run(toTypedCall(messagesFormat.call(each)))),
  };
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

function renamed<Result>(read: () => Result): Result {
  try {
    return read();
  } catch (failure) {
    return rename(failure);
  }
}

/** Throws a failure with the names of the fields in Messages. */
function rename(failure: unknown): never {
  if (!(failure instanceof Fault)) throw failure;
  throw inServers(failure, (message, param) => new Fault(failure.kind, message, { ...failure, param }));
}
