/** This service as an MCP server: lists the operations that a caller may use, and runs them as requests to the API. */

import { z } from "zod";
import type { Caller } from "../../contracts/caller.ts";
import type { InternalRequests } from "../../http/internal-requests.ts";
import type { Inference } from "../../inference/inference.ts";
import { Fault } from "../../kernel/faults.ts";
import { parse } from "../../wire/openai/validate.ts";
import type { CallToolResult, McpTool } from "./mcp-connection.ts";
import { READ_ONLY, SERVICE_OPERATIONS, type ServiceOperation } from "./service-operations.ts";

/** Name of the server at /mcp, which no server of the configuration may have. */
export const SERVICE_NAME = "parlance";

export class ServiceServer {
  readonly #inference: Inference;
  readonly #requests: InternalRequests;

  constructor(inference: Inference, requests: InternalRequests) {
    this.#inference = inference;
    this.#requests = requests;
  }

  listTools(caller: Caller): McpTool[] {
    return SERVICE_OPERATIONS.filter((each) => this.#modelOf(each, caller) !== undefined).map((each) => ({
      name: each.name,
      title: each.title,
      description: each.description,
      inputSchema: z.toJSONSchema(each.input, { io: "input" }) as McpTool["inputSchema"],
      annotations: READ_ONLY,
    }));
  }

  /** Undefined: there is no such tool. A request that the API refuses is the tool's error. */
  async callTool(
    name: string,
    input: Readonly<Record<string, unknown>>,
    caller: Caller,
    signal: AbortSignal,
  ): Promise<CallToolResult | undefined> {
    const operation = SERVICE_OPERATIONS.find((each) => each.name === name);
    const model = operation && this.#modelOf(operation, caller);
    if (operation === undefined || model === undefined) return undefined;
    const values = readInput(operation, input);
    if (values instanceof Fault) return failed(values.message);
    const { path, body, contentType } = operation.toRequest(values, model);
    const answer = await this.#requests.run({ caller, path, body, contentType }, signal);
    return answer.status === 200 ? operation.toResult(answer.body, values) : failed(messageOf(answer.body));
  }

  /** Returns the model of inputs that name none; "": the operation needs none; undefined: the caller has none. */
  #modelOf({ task }: ServiceOperation, caller: Caller): string | undefined {
    if (task === undefined) return "";
    try {
      return this.#inference.models.first(caller, task);
    } catch (failure) {
      if (failure instanceof Fault) return undefined;
      throw failure;
    }
  }
}

function readInput(operation: ServiceOperation, input: Readonly<Record<string, unknown>>) {
  try {
    return parse(operation.input.strict(), input) as Record<string, unknown>;
  } catch (failure) {
    if (failure instanceof Fault) return failure;
    throw failure;
  }
}

function failed(message: string): CallToolResult {
  return { isError: true, content: [{ type: "text", text: message }] };
}

function messageOf(body: string): string {
  const { error } = JSON.parse(body) as { error?: { message?: string } };
  return error?.message ?? "The request failed.";
}
