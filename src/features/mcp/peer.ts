/** The client on whose behalf a request goes to a server: what it can do, and how to reach it meanwhile. */

import type {
  ClientCapabilities,
  LoggingLevel,
  LoggingMessageNotificationParams,
  Progress,
} from "@modelcontextprotocol/client";

/** Keys of a request's metadata in the protocol of 2026. */
const CAPABILITIES_META = "io.modelcontextprotocol/clientCapabilities";
const LOG_LEVEL_META = "io.modelcontextprotocol/logLevel";

export interface Peer {
  /** What it has declared, such as `elicitation` and `sampling`. */
  capabilities: ClientCapabilities;
  /** Minimum level of log messages; undefined: it gets none. */
  logLevel?: LoggingLevel | undefined;
  /** Whether `logLevel` is the client's choice, which a server of 2025 has to be told. */
  hasChosenLevel?: boolean;
  onLog?(message: LoggingMessageNotificationParams): void;
  onProgress?: ((progress: Progress) => void) | undefined;
  /** Sends a server's request to it and resolves with its result; undefined: only results of calls reach it. */
  ask?: Ask | undefined;
  /** Answers to the questions of an earlier result, in the protocol of 2026. */
  inputResponses?: Readonly<Record<string, unknown>> | undefined;
  requestState?: string | undefined;
}

/** Throws the error of a client that declines to answer. */
export type Ask = (method: string, params: Readonly<Record<string, unknown>>, signal: AbortSignal) => Promise<Answer>;
export type Answer = Record<string, unknown>;

/** Requests that a server may make of a client, and the capability by which it declares them. */
export const QUESTIONS: Readonly<Record<string, "elicitation" | "sampling" | "roots">> = {
  "elicitation/create": "elicitation",
  "sampling/createMessage": "sampling",
  "roots/list": "roots",
};

/** A result that asks for something before the call can end, as the SDK decodes it. */
export interface InputRequiredResult {
  resultType: "input_required";
  inputRequests?: Readonly<Record<string, { method: string; params?: Record<string, unknown> }>>;
  requestState?: string;
}

export function isInputRequiredResult(result: unknown): result is InputRequiredResult {
  return (result as { resultType?: unknown } | undefined)?.resultType === "input_required";
}

/** Whether the client has declared that it answers each question of a result. */
export function declares(peer: Peer | undefined, { inputRequests = {} }: InputRequiredResult): boolean {
  const capabilities = peer?.capabilities ?? {};
  return Object.values(inputRequests).every(({ method }) => {
    const capability = QUESTIONS[method];
    return capability !== undefined && capabilities[capability] !== undefined;
  });
}

/** Parameters of the next request: answers to all questions of a result, and the server's state. */
export async function answersTo(
  { inputRequests = {}, requestState }: InputRequiredResult,
  ask: (method: string, params: Readonly<Record<string, unknown>>) => Promise<unknown>,
): Promise<object> {
  const answering = Object.entries(inputRequests).map(async ([name, { method, params = {} }]) => {
    return [name, await ask(method, params)] as const;
  });
  return { inputResponses: Object.fromEntries(await Promise.all(answering)), ...(requestState && { requestState }) };
}

/** Metadata of a request that is sent for this client. */
export function metaOf({ capabilities, logLevel }: Partial<Peer> = {}): object {
  return {
    ...(capabilities && { [CAPABILITIES_META]: capabilities }),
    ...(logLevel && { [LOG_LEVEL_META]: logLevel }),
  };
}
