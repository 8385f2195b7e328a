/** `mcp` in `tools` of a Responses request: lists a server's tools, gives them to the model and runs approved calls. */

import { z } from "zod";
import type { Caller } from "../../contracts/caller.ts";
import { Fault, invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { lazy } from "../../kernel/lazy.ts";
import { parseUrl } from "../../kernel/outgoing/outgoing-guard.ts";
import { optional } from "../../wire/openai/optional.ts";
import { parse } from "../../wire/openai/validate.ts";
import type { ItemEvent } from "../../wire/responses/item-events.ts";
import type { InputItem } from "../../wire/responses/responses-input.ts";
import type { SentTool } from "../../wire/responses/responses-tools.ts";
import type { PendingCall, ServiceFunction, ServiceTool, ServiceToolType, ToolContext } from "../tools/index.ts";
import { isConnectionRequired } from "./grants/grant-faults.ts";
import { type GuardedEntries, type GuardedLists, guardListFault } from "./guarded-lists.ts";
import { McpApprovalCall, McpCall } from "./mcp-call.ts";
import type { McpCallLog } from "./mcp-call-log.ts";
import type { McpConnection, McpTool } from "./mcp-connection.ts";
import { describeFailure } from "./mcp-result.ts";
import type { McpServer, McpServers } from "./mcp-servers.ts";
import { AllowedTools, RequireApproval, toolsAllowedBy, toolsToApprove } from "./tool-filter.ts";

const McpToolBody = lazy.looseObject(() => ({
  server_label: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/, {
    error: "it must be 1 to 64 letters, digits, underscores or hyphens, and begin with a letter or digit",
  }),
  server_url: optional(z.string().min(1).max(2000)),
  server_description: optional(z.string().max(10_000)),
  authorization: optional(z.string().min(1).max(10_000)),
  headers: optional(z.record(z.string().regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/), z.string().max(10_000))),
  allowed_tools: optional(AllowedTools),
  require_approval: optional(RequireApproval),
}));

type McpToolBody = z.output<typeof McpToolBody>;

/** Headers that belong to the connection. */
const REFUSED_HEADERS = new Set([
  "host",
  "content-length",
  "connection",
  "transfer-encoding",
  "upgrade",
  "te",
  "cookie",
]);

export class McpToolType implements ServiceToolType {
  readonly type = "mcp";
  readonly #servers: McpServers;
  readonly #log: McpCallLog;
  readonly #lists: GuardedLists;

  constructor(servers: McpServers, log: McpCallLog, lists: GuardedLists) {
    this.#servers = servers;
    this.#log = log;
    this.#lists = lists;
  }

  serves(tool: SentTool, path: string, _caller: Caller): boolean {
    const { server_url: url, server_label: label } = tool;
    // Connectors and tunnels are OpenAI's, which an upstream may have.
    if (tool.connector_id != null || tool.tunnel_id != null) return false;
    const isServed = url == null ? this.#servers.has(String(label)) : this.#servers.acceptsCallerServers;
    if (isServed) readBody(tool, path);
    if (isServed || url != null || this.#servers.count === 0) return isServed;
    const message = `There is no MCP server '${String(label).slice(0, 100)}' here: send its address as 'server_url', or ask the operator to add it to 'mcp_servers'.`;
    throw invalidRequest(message, `${path}.server_label`, "invalid_value");
  }

  async open(tool: SentTool, context: ToolContext): Promise<ServiceTool> {
    const body = readBody(tool, context.path);
    const server = this.#serverOf(body, context);
    const listedBefore = listedTools(context.items, server.name);
    const isAllowed = toolsAllowedBy(body.allowed_tools);
    const allows = (each: McpTool) => server.allowsTool(each.name) && isAllowed(each);
    const usable =
      listedBefore?.filter(allows).map((each) => [each, each] as const) ?? (await this.#list(server, allows, context));
    const connection = new LazyConnection(server);
    const call = { caller: context.caller, log: this.#log, server, connect: () => connection.get() };
    const isToApprove = toolsToApprove(body.require_approval);
    const byName = new Map<unknown, { tool: McpTool; functionName: string }>();
    const functions = usable.map(([each, shown]): ServiceFunction => {
      const name = context.functionName(each.name, server.name);
      if (!byName.has(each.name)) byName.set(each.name, { tool: each, functionName: name });
      const needsApproval = server.settings?.requireApproval === "always" || isToApprove(each);
      return {
        definition: {
          name,
          description: shown.description,
          parameters: shown.inputSchema,
          param: context.path,
        },
        name: each.name,
        serverLabel: server.name,
        needsApproval,
        begin: () =>
          needsApproval ? new McpApprovalCall(server.name, each.name) : new McpCall({ ...call, tool: each }),
      };
    });
    return {
      functions,
      items: listedBefore === undefined ? toItems(server.name, usable) : [],
      calls: approvedCalls(context.items, server.name).map((request): PendingCall => {
        const named = byName.get(request.name);
        if (named === undefined) {
          const message = `The server '${server.name}' has no tool '${String(request.name).slice(0, 100)}' that this request may use.`;
          throw invalidRequest(message, "input", "invalid_value");
        }
        const approved = new McpCall({ ...call, tool: named.tool, approvalRequestId: String(request.id) });
        return { call: approved, name: named.functionName, arguments: String(request.arguments) };
      }),
      close: () => connection.close(),
    };
  }

  /** Returns the tools that `allows` selects, as far as the guardrails of the project pass them on. Throws a Fault. */
  async #list(
    server: McpServer,
    allows: (tool: McpTool) => boolean,
    { signal, guardsOf }: ToolContext,
  ): Promise<GuardedEntries<"tools">> {
    const guards = () => guardsOf(`mcp/${server.name}`);
    let tools: readonly McpTool[];
    try {
      tools = await server.list("tools", signal);
    } catch (failure) {
      signal.throwIfAborted();
      if (isConnectionRequired(failure) || isOverloaded(failure)) throw failure;
      const message = `The MCP server '${server.name}' did not list its tools. ${describeFailure(failure)}`;
      const fault = new Fault("upstream-failed", message, { code: "mcp_server_failed", cause: failure });
      throw await guardListFault(fault, guards(), "model");
    }
    const { sharesLists: isShared } = server;
    return this.#lists.guard<"tools">(tools, allows, guards, { reader: "model", isShared });
  }

  #serverOf(body: McpToolBody, { caller, path, hold }: ToolContext): McpServer {
    const { server_label: label, server_url: url, authorization, headers = {} } = body;
    if (url !== undefined) {
      const address = { url: checkUrl(url, path), headers: toHeaders(body, path) };
      // What is read of an answer occupies as much as its text, at least.
      return this.#servers.atAddress(label, { ...address, hold: (bytes) => hold(2 * bytes) });
    }
    const token = authorization === undefined ? undefined : toBearer(authorization);
    const server = this.#servers.find(label, caller, token);
    if (server === undefined) {
      const message = `This project may not use the MCP server '${label}'.`;
      throw new Fault("forbidden", message, { param: `${path}.server_label` });
    }
    if (Object.keys(headers).length > 0) {
      throw unsupportedValue(`The operator sets the headers of '${label}': leave out 'headers'.`, `${path}.headers`);
    }
    if (authorization !== undefined && server.settings?.callerAuthorization !== true) {
      const message = `The server '${label}' does not take a caller's own token: leave out 'authorization'.`;
      throw unsupportedValue(message, `${path}.authorization`);
    }
    return server;
  }
}

/** Whether this service has no memory for a list, rather than that the server failed. */
function isOverloaded(failure: unknown): boolean {
  if (!(failure instanceof Fault)) return false;
  return failure.kind === "request-rate-limited" || failure.code === "server_is_overloaded";
}

/** Connects with the first call of a response. */
class LazyConnection {
  readonly #server: McpServer;
  #open: ReturnType<McpServer["connect"]> | undefined;

  constructor(server: McpServer) {
    this.#server = server;
  }

  get(): McpConnection {
    // A connection that broke off may work again.
    if (this.#open?.connection.hasFailed === true) void this.close();
    this.#open ??= this.#server.connect();
    return this.#open.connection;
  }

  async close(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.release();
  }
}

function readBody(tool: SentTool, path: string): McpToolBody {
  try {
    return parse(McpToolBody, tool);
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault;
    const param = fault.param === undefined ? path : `${path}.${fault.param}`;
    throw new Fault(fault.kind, fault.message.replaceAll(`'${fault.param}'`, `'${param}'`), { ...fault, param });
  }
}

function checkUrl(url: string, path: string): string {
  try {
    return parseUrl(url).href;
  } catch {
    const message = "It must be a plain http: or https: URL without a user name.";
    throw invalidRequest(message, `${path}.server_url`, "invalid_value");
  }
}

function toHeaders({ headers = {}, authorization }: McpToolBody, path: string): Record<string, string> {
  for (const name of Object.keys(headers)) {
    if (!REFUSED_HEADERS.has(name.toLowerCase())) continue;
    throw invalidRequest(`The header '${name}' cannot be set.`, `${path}.headers`, "invalid_value");
  }
  return authorization === undefined ? headers : { ...headers, authorization: toBearer(authorization) };
}

function toBearer(token: string): string {
  return /^\w+ /.test(token) ? token : `Bearer ${token}`;
}

/** Returns the tools of an earlier list, which the caller continues from; undefined without one. */
function listedTools(items: readonly InputItem[], label: string): McpTool[] | undefined {
  const list = items.findLast((item) => item.type === "mcp_list_tools" && item.server_label === label);
  const tools = list?.tools as { name: string; description?: string | null; input_schema?: unknown }[] | undefined;
  return tools?.map(({ name, description, input_schema, ...rest }) => {
    const { annotations } = rest as { annotations?: McpTool["annotations"] | null };
    const inputSchema = (input_schema ?? { type: "object" }) as McpTool["inputSchema"];
    return {
      name,
      inputSchema,
      ...(description != null && { description }),
      ...(annotations != null && { annotations }),
    };
  });
}

function toItems(label: string, tools: GuardedEntries<"tools">): ItemEvent[] {
  const item = { id: newId("mcpl_"), type: "mcp_list_tools", server_label: label };
  const listed = tools.map(([{ name }, { description = null, inputSchema, annotations = null }]) => {
    return { name, description, input_schema: inputSchema, annotations };
  });
  const progress = (type: string) => ({ type: "item-event" as const, id: item.id, event: { type } });
  return [
    { type: "item-start", item: { ...item, tools: [] } },
    progress("response.mcp_list_tools.in_progress"),
    progress("response.mcp_list_tools.completed"),
    { type: "item-stop", item: { ...item, tools: listed } },
  ];
}

/** Returns the requests of a server that the caller has approved and that have not run. */
function approvedCalls(items: readonly InputItem[], label: string): InputItem[] {
  const requests = new Map<unknown, InputItem>();
  const ran = new Set<unknown>();
  for (const item of items) {
    if (item.type === "mcp_approval_request") requests.set(item.id, item);
    if (item.type === "mcp_call") ran.add(item.approval_request_id);
  }
  const approved = new Map<unknown, InputItem>();
  for (const item of items) {
    if (item.type !== "mcp_approval_response" || item.approve !== true) continue;
    const { approval_request_id: id } = item;
    const request = requests.get(id);
    if (request?.server_label === label && !ran.has(id)) approved.set(id, request);
  }
  return [...approved.values()];
}
