/** Tests an address and a key before they are saved: what answers there, its models, and how fast its first token is. */

import { EventReader } from "../../../kernel/server-sent-events.ts";
import { HostClient, type HostOptions } from "./host-client.ts";
import { type HostModel, type IdentifiedHost, identifyHost, messageIn, type ServerKind } from "./identify-host.ts";

export interface ConnectionAddress {
  baseUrl: string;
  apiKey: string | undefined;
  headers: Readonly<Record<string, string>>;
}

interface FirstToken {
  model: string;
  /** From the request to the first text; undefined: it failed. */
  ms: number | undefined;
  problem: string | undefined;
}

export interface ConnectionTest {
  /** Undefined: nothing answers. */
  host: IdentifiedHost | undefined;
  problem: string | undefined;
  /** Undefined: not measured. */
  firstToken: FirstToken | undefined;
}

/** Time for a local model that is loaded first. */
const FIRST_TOKEN_MS = 60_000;
const MAX_EVENT = 1024 * 1024;

/** Servers of one's machines, whose first model is measured unless another one is named: a token costs nothing there. */
const MEASURED: ReadonlySet<ServerKind> = new Set([
  "llama-server",
  "lm-studio",
  "ollama",
  "parlance",
  "sglang",
  "vllm",
]);

/** `model`: whose first token to measure. Throws AddressRefused for an address that connections must not go to. */
export async function testConnection(
  { baseUrl, apiKey, headers }: ConnectionAddress,
  model: string | undefined,
  options: Omit<HostOptions, "headers">,
): Promise<ConnectionTest> {
  const keys = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}`, ...anthropicKey(baseUrl, apiKey) };
  const client = new HostClient({ ...options, headers: { ...keys, ...headers } });
  const host = await identifyHost(client, baseUrl);
  if (host === undefined) {
    return { host, problem: "Nothing answers at this address within 5 s.", firstToken: undefined };
  }
  const measured = model ?? (MEASURED.has(host.kind) ? firstChatModel(host.models) : undefined);
  const firstToken = measured === undefined || !host.isAccepted ? undefined : await measure(client, host, measured);
  return { host, problem: host.problem, firstToken };
}

/** Anthropic takes keys in its own header, and tokens only as bearers. */
function anthropicKey(baseUrl: string, apiKey: string): Record<string, string> {
  const isAnthropic = apiKey.startsWith("sk-ant-api") || new URL(baseUrl).hostname === "api.anthropic.com";
  return isAnthropic ? { "x-api-key": apiKey } : {};
}

function firstChatModel(models: readonly HostModel[]): string | undefined {
  return models.find(({ task }) => task !== "embedding")?.id;
}

async function measure(client: HostClient, { kind, baseUrl }: IdentifiedHost, model: string): Promise<FirstToken> {
  const beganAt = performance.now();
  const isAnthropic = kind === "anthropic";
  const messages = [{ role: "user", content: "Hi" }];
  const path = isAnthropic ? "messages" : "chat/completions";
  const headers: Record<string, string> = isAnthropic ? { "anthropic-version": "2023-06-01" } : {};
  try {
    const json = { model, messages, max_tokens: 8, stream: true };
    const answer = await client.open("POST", `${baseUrl}/${path}`, { headers, json, timeoutMs: FIRST_TOKEN_MS });
    try {
      const problem = await untilText(answer);
      return { model, ms: problem === undefined ? Math.round(performance.now() - beganAt) : undefined, problem };
    } finally {
      answer.body.on("error", () => {}).destroy();
    }
  } catch (failure) {
    const isLate = (failure as Error).name === "TimeoutError";
    return { model, ms: undefined, problem: isLate ? "no token within 60 s" : "the connection failed" };
  }
}

/** Reads the answer until it has text; resolves with the problem of one without. */
async function untilText({ statusCode, body }: OpenAnswer): Promise<string | undefined> {
  if (statusCode !== 200) {
    const message = messageIn(await body.json().catch(() => undefined));
    return `status ${statusCode}${message === undefined ? "" : `: ${message}`}`;
  }
  const reader = new EventReader(MAX_EVENT);
  for await (const chunk of body as AsyncIterable<Buffer>) {
    if (reader.read(chunk)?.some(({ data }) => hasText(data))) return undefined;
  }
  return "the answer has no text";
}

type OpenAnswer = Awaited<ReturnType<HostClient["open"]>>;

/** Whether an event of a chat, in OpenAI's or Anthropic's format, has text, reasoning or a tool call. */
function hasText(data: string): boolean {
  try {
    const { choices, type } = JSON.parse(data) as { choices?: { delta?: Record<string, unknown> }[]; type?: string };
    if (type === "content_block_delta") return true;
    const delta = choices?.[0]?.delta ?? {};
    return ["content", "reasoning_content", "reasoning", "tool_calls"].some((key) => {
      const value = delta[key];
      return value !== undefined && value !== null && value !== "";
    });
  } catch {
    return false;
  }
}
