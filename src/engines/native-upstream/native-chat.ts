/** A chat model behind a provider's own API: typed requests are converted, and the stream is read as typed events. */

import type { ChatAbilities, ChatEvent, ChatModel, ChatRequest } from "../../contracts/chat-model.ts";
import { Fault } from "../../kernel/faults.ts";
import { jsonBytes } from "../../kernel/json/json-bytes.ts";
import { LARGE_JSON_BYTES, writeLargeJson } from "../../kernel/json/large-json.ts";
import { AnsweringModel } from "../openai-compatible/chat/answering-model.ts";
import type { Exchange, ResponseHead } from "../openai-compatible/connection/exchange.ts";
import { readErrorBody } from "../openai-compatible/connection/read-body.ts";
import type { UpstreamSettings } from "../openai-compatible/connection-settings.ts";
import { parseUpstreamError } from "../openai-compatible/upstream-error.ts";
import { errorResponseFault, type FaultContext, retryAfterSeconds } from "../openai-compatible/upstream-fault.ts";
import type { UpstreamModelOptions } from "../openai-compatible/upstream-model.ts";
import type { ChatDialect, NativeCall, Refusal } from "./chat-dialect.ts";
import { firstMissingField } from "./missing-field.ts";

export interface NativeChatOptions<Settings extends UpstreamSettings> extends UpstreamModelOptions<Settings> {
  dialect: ChatDialect;
}

export class NativeChat<Settings extends UpstreamSettings = UpstreamSettings>
  extends AnsweringModel<Settings>
  implements ChatModel
{
  readonly task = "chat";
  readonly contextWindow: number | undefined;
  readonly abilities: ChatAbilities;
  readonly #dialect: ChatDialect;

  constructor(options: NativeChatOptions<Settings>) {
    super(options);
    this.contextWindow = options.settings.contextWindow;
    this.abilities = options.dialect.abilities;
    this.#dialect = options.dialect;
  }

  refusal(request: ChatRequest): Fault | undefined {
    const { provider, fields, promptFields = fields } = this.#dialect;
    const missing = firstMissingField(request, provider, request.prompt === undefined ? fields : promptFields);
    if (missing !== undefined) return missing;
    try {
      this.#dialect.toCall(request, this.contextOf(request.model).upstreamModel);
      return undefined;
    } catch (fault) {
      if (fault instanceof Fault) return fault;
      throw fault;
    }
  }

  chat(request: ChatRequest, signal: AbortSignal): AsyncIterable<ChatEvent> {
    const { upstreamModel } = this.contextOf(request.model);
    const ask = () => this.#ask(request, this.#dialect.toCall(request, upstreamModel), signal);
    return this.streamed(request, ask, { sink: this.#dialect.newSink(request) }, signal);
  }

  async #ask({ callerHeaders }: ChatRequest, call: NativeCall, signal: AbortSignal): Promise<Exchange> {
    const { path, body } = call;
    const isLarge = jsonBytes(body) >= LARGE_JSON_BYTES;
    const written = isLarge && !this.hasChangingCredentials ? await writeLargeJson(body) : JSON.stringify(body);
    const credentials = typeof written === "string" ? await this.credentials(path, written, signal) : {};
    const headers = { accept: "text/event-stream", ...call.headers, ...credentials };
    return this.send(path, { body: written, headers, callerHeaders }, signal);
  }

  protected override async readRefusal(head: ResponseHead, exchange: Exchange, context: FaultContext): Promise<Fault> {
    return toRefusalFault(this.#dialect, head, await readErrorBody(exchange), context);
  }
}

/** Creates the Fault for a status other than 200, read as the provider means it. */
export function toRefusalFault(
  { readError }: Pick<ChatDialect, "readError">,
  { status, headers }: ResponseHead,
  body: unknown,
  context: FaultContext,
): Fault {
  const refusal: Refusal = { status, headers, body };
  const read = readError?.(refusal);
  const error = read?.error ?? parseUpstreamError(body);
  const waitSeconds = read?.retryAfterSeconds ?? retryAfterSeconds(headers);
  return errorResponseFault(read?.status ?? status, error, waitSeconds, context);
}
