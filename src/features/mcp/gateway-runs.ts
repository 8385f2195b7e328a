/** Runs one request of a client on a server: within its limits, between the guardrails of the project, and recorded. */

import { type GuardResult, guardToolCall } from "../../inference/guardrails/guard-tool.ts";
import type { Inference } from "../../inference/inference.ts";
import { Fault } from "../../kernel/faults.ts";
import { parseObject } from "../../kernel/json/parse-object.ts";
import type { GatewayRequest } from "./gateway-request.ts";
import { isConnectionRequired } from "./grants/grant-faults.ts";
import { guardFault } from "./guard-tool-result.ts";
import { logged, runOptions } from "./mcp-call.ts";
import type { McpCallLog } from "./mcp-call-log.ts";
import type { McpConnection } from "./mcp-connection.ts";
import { describeFailure } from "./mcp-result.ts";
import type { McpServer } from "./mcp-servers.ts";
import { type Ask, type InputRequiredResult, isInputRequiredResult, type Peer } from "./peer.ts";

type Input = Readonly<Record<string, unknown>>;

export interface ServerRequest<Result> {
  server: McpServer;
  /** A tool, or `prompts/` or `resources/` and a name or address; what the request history shows. */
  use: string;
  /** Label of usage and key of the price: the tool, or the kind of request. */
  label: string;
  input: Input;
  send(connection: McpConnection, input: Input, signal: AbortSignal, peer: Peer): Promise<Result | InputRequiredResult>;
  /** Returns the result with its texts after the guardrails. */
  guard(result: Result, guardResult: GuardResult): Promise<Result>;
}

export class GatewayRuns {
  readonly #inference: Inference;
  readonly #log: McpCallLog;

  constructor(inference: Inference, log: McpCallLog) {
    this.#inference = inference;
    this.#log = log;
  }

  /** Throws a Fault for a request that a guardrail or limit refuses, or whose server fails. */
  async run<Result>(
    request: ServerRequest<Result>,
    peer: Peer,
    context: GatewayRequest,
  ): Promise<Result | InputRequiredResult> {
    const { server, use, input } = request;
    context.onCall(server.name, use);
    const guards = this.#inference.guardsOfTool(context.caller, `mcp/${server.name}/${use}`, context.onDisconnect);
    if (guards === undefined) return this.#send(request, input, peer, context, false);
    try {
      const { ask, inputResponses } = peer;
      const guarded = await guardToolCall(guards, input, "client");
      const responses = inputResponses && (await guardToolCall(guards, inputResponses, "client")).input;
      const guardQuestion = guarded.guardResult;
      const checked: Peer = {
        ...peer,
        inputResponses: responses,
        // Nothing checks texts that come before the result.
        onLog: undefined,
        onProgress: peer.onProgress && (({ message: _unchecked, ...progress }) => peer.onProgress?.(progress)),
        ask:
          ask && guardAsk(ask, guardQuestion, async (answer) => (await guardToolCall(guards, answer, "client")).input),
      };
      const result = await this.#send(request, guarded.input, checked, context, true).catch(
        async (failure: unknown) => {
          if (!(failure instanceof Fault) || failure.code !== "mcp_server_failed") throw failure;
          throw await guardFault(failure, guarded.guardResult);
        },
      );
      if (!isInputRequiredResult(result)) return await request.guard(result, guarded.guardResult);
      const questions = await guardObject(result.inputRequests ?? {}, guardQuestion);
      return { ...result, inputRequests: questions as NonNullable<InputRequiredResult["inputRequests"]> };
    } finally {
      guards.end();
    }
  }

  async #send<Result>(
    { server, use, label, send }: ServerRequest<Result>,
    input: Input,
    peer: Peer,
    { caller, source, onDisconnect }: GatewayRequest,
    isGuarded: boolean,
  ): Promise<Result | InputRequiredResult> {
    const { connection, release } = connectTo(server, peer);
    try {
      const run = () =>
        this.#inference.runTool(caller, runOptions(server, label), onDisconnect, (signal) =>
          send(connection, input, signal, peer),
        );
      const { value, failure } = await logged(this.#log, { caller, server, tool: use, source, isGuarded }, run);
      if (isConnectionRequired(failure)) throw failure;
      if (value === undefined) throw serverFailed(server.name, describeFailure(failure), failure);
      const bytes = Buffer.byteLength(JSON.stringify(value));
      if (bytes <= server.maxResultBytes) return value;
      throw serverFailed(server.name, `The result has ${bytes} bytes; the limit is ${server.maxResultBytes}.`);
    } finally {
      void release();
    }
  }
}

function connectTo(server: McpServer, peer: Peer) {
  try {
    return server.connect({ peer });
  } catch (failure) {
    throw serverFailed(server.name, describeFailure(failure), failure);
  }
}

export function serverFailed(server: string, reason: string, cause?: unknown): Fault {
  const message = `The MCP server '${server}' failed. ${reason}`;
  return new Fault("upstream-failed", message, { code: "mcp_server_failed", cause });
}

function guardAsk(ask: Ask, guardQuestion: GuardResult, guardAnswer: (answer: Input) => Promise<Input>): Ask {
  return async (method, params, signal) => {
    const answer = await ask(method, await guardObject(params, guardQuestion), signal);
    return { ...(await guardAnswer(answer)) };
  };
}

async function guardObject(object: Input, guardResult: GuardResult): Promise<Input> {
  const [text = ""] = await guardResult([JSON.stringify(object)]);
  const guarded = parseObject(text);
  if (guarded !== undefined) return guarded;
  const message = "A guardrail put a text that is not a JSON object in place of a server's question.";
  throw new Fault("answer-unfit", message, { code: "upstream_error" });
}
