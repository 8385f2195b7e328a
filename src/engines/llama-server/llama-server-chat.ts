/** A chat model behind a llama-server that Parlance started, called like any upstream with OpenAI's API. */

import { setTimeout as delay } from "node:timers/promises";
import type { ChatAbilities, ChatEvent, ChatModel, ChatRequest } from "../../contracts/chat-model.ts";
import type { EngineServices } from "../../contracts/engine.ts";
import type { ModelHealth } from "../../contracts/open-model.ts";
import { Fault, unavailable } from "../../kernel/faults.ts";
import { Secret } from "../../kernel/secret.ts";
import type { HostedServer } from "../host/host-server.ts";
import type { ServerFacts } from "../host/messages.ts";
import { UpstreamChat } from "../openai-compatible/chat/upstream-chat.ts";
import { Connections } from "../openai-compatible/connection/connections.ts";
import { openAiCompatibleSettings } from "../openai-compatible/settings.ts";
import { checkedChat } from "../shared/checked-chat.ts";
import { withGrammars } from "../shared/compile-schemas.ts";
import { toInfillPrompt } from "./infill.ts";
import { toServerBody } from "./server-body.ts";
import type { ServerProperties } from "./server-properties.ts";
import type { LlamaServerSettings } from "./settings.ts";

export interface LlamaServerChatOptions {
  server: HostedServer;
  settings: LlamaServerSettings;
  services: EngineServices;
}

/** After a broken connection, time to wait for the exit of the process. */
const END_GRACE_MS = 500;

export class LlamaServerChat implements ChatModel {
  readonly task = "chat";
  readonly device = "llama-server";
  readonly slots: number;
  readonly contextWindow: number;
  readonly abilities: ChatAbilities;
  readonly #options: LlamaServerChatOptions;
  readonly #properties: ServerProperties;
  #upstream: { facts: ServerFacts; chat: Promise<UpstreamChat> } | undefined;

  constructor(options: LlamaServerChatOptions) {
    const properties = options.server.current().properties as ServerProperties;
    const { slots, contextWindow, tools, vision, reasoning } = properties;
    this.#options = options;
    this.#properties = properties;
    this.slots = slots;
    this.contextWindow = contextWindow;
    this.abilities = {
      tools,
      jsonSchema: true,
      logprobs: true,
      vision,
      reasoning,
      choices: slots,
      completions: true,
      infill: properties.infill !== undefined,
    };
  }

  get pid(): number | undefined {
    return this.#options.server.pid;
  }

  health(): ModelHealth {
    return this.#options.server.health();
  }

  async close(): Promise<void> {
    await (await this.#upstream?.chat)?.close();
    await this.#options.server.close();
  }

  prepare(request: ChatRequest, signal: AbortSignal): Promise<ChatRequest> | undefined {
    return withGrammars(request, signal);
  }

  async *chat(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const compiled = (await withGrammars(request, signal)) ?? request;
    yield* checkedChat(compiled, signal, (each, until) => this.#answer(each, until));
  }

  async *#answer(request: ChatRequest, signal: AbortSignal): AsyncGenerator<ChatEvent> {
    const { server } = this.#options;
    const facts = server.current();
    const ended = server.ended().then(() => true);
    try {
      // Written here rather than by the upstream, so nothing is silently ignored.
      const body = toServerBody(await this.#withGap(request, facts, signal), this.#properties);
      const upstream = await this.#upstreamOf(facts);
      yield* upstream.events(request, body, signal);
    } catch (error) {
      if (!(error instanceof Fault) || error.kind !== "upstream-failed") throw error;
      if (!(await Promise.race([ended, delay(END_GRACE_MS, false)]))) throw error;
      const message = "The model's engine failed: llama-server ended. Try again in a moment.";
      throw unavailable(message, "engine_failed", 2, error);
    }
  }

  /** Replaces a prompt and its suffix by token IDs. */
  async #withGap(request: ChatRequest, facts: ServerFacts, signal: AbortSignal): Promise<ChatRequest> {
    const { prompt } = request;
    const { infill: tokens } = this.#properties;
    if (prompt?.suffix === undefined || tokens === undefined) return request;
    return { ...request, prompt: { ...prompt, input: await toInfillPrompt(prompt, { ...facts, tokens }, signal) } };
  }

  /** A new one for each start of the server. */
  async #upstreamOf(facts: ServerFacts): Promise<UpstreamChat> {
    if (this.#upstream?.facts !== facts) {
      void this.#upstream?.chat.then((chat) => chat.close());
      this.#upstream = { facts, chat: this.#connect(facts) };
    }
    return this.#upstream.chat;
  }

  async #connect({ origin, key }: ServerFacts): Promise<UpstreamChat> {
    const { services, settings: own } = this.#options;
    const parsed = openAiCompatibleSettings.parse({
      base_url: `${origin}/v1`,
      model: services.name,
      first_byte_timeout_seconds: own.firstByteTimeoutSeconds,
      idle_timeout_seconds: own.idleTimeoutSeconds,
    });
    const settings = { ...parsed, apiKey: new Secret(key) };
    const connections = await Connections.open(settings);
    const { name, catalogId, logger } = services;
    return new UpstreamChat({ name, catalogId, settings, connections, logger, usagePerChoice: true });
  }
}
