/** One session of the Realtime API: takes a client's events, one after the other, and sends those of the server. */

import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { parseJson } from "../../kernel/json/parse-json.ts";
import { parse } from "../../wire/openai/validate.ts";
import { bindSession, checkBound } from "../../wire/realtime/bind-session.ts";
import { ClientEvent } from "../../wire/realtime/client-events.ts";
import { toItem } from "../../wire/realtime/conversation-items.ts";
import { toErrorEvent } from "../../wire/realtime/server-event.ts";
import type { SessionStart } from "../../wire/realtime/session-query.ts";
import { type SessionSettings, toSession, updateSettings } from "../../wire/realtime/session-settings.ts";
import { checkModels } from "./check-models.ts";
import { Conversation } from "./conversation.ts";
import type { RealtimeServices, SessionContext } from "./session-context.ts";
import { SessionResponses } from "./session-responses.ts";
import { SessionTools } from "./session-tools.ts";
import { SessionTurns } from "./session-turns.ts";
import { Transcriber } from "./transcriber.ts";

export interface RealtimeSessionOptions
  extends Pick<SessionContext, "services" | "callerHeaders" | "authenticate" | "send" | "flushed"> {
  services: RealtimeServices;
  settings: SessionSettings;
  /** Settings that the client cannot change, as in a `session.update`. */
  fixed: SessionStart["fixed"];
  requestId: string;
  /** Epoch milliseconds. */
  expiresAt: number;
  /** Logs a failure that is a bug. */
  reportBug: (failure: unknown) => void;
  /** Ends the connection; called after the error event that says why. */
  close: (failure: Fault) => void;
}

const MAX_VALUES = 100_000;
const BINARY = "Binary messages are not supported. Send events as JSON text, with audio in base64.";

export class RealtimeSession {
  readonly id = newId("sess_");
  readonly #options: RealtimeSessionOptions;
  readonly #ended = new AbortController();
  readonly #conversation = new Conversation();
  readonly #responses: SessionResponses;
  readonly #turns: SessionTurns;
  readonly #tools: SessionTools;
  #settings: SessionSettings;

  constructor(options: RealtimeSessionOptions) {
    this.#options = options;
    this.#settings = options.settings;
    const { services, callerHeaders, send, flushed } = options;
    const context: SessionContext = {
      services,
      callerHeaders,
      settings: () => this.#settings,
      send: (event) => {
        if (!this.#ended.signal.aborted) send(event);
      },
      flushed,
      authenticate: async () => {
        try {
          return await options.authenticate();
        } catch (failure) {
          if (failure instanceof Fault && failure.kind === "unauthenticated") this.#refuse(failure);
          throw failure;
        }
      },
      toError: (failure) => this.#toErrorEvent(failure, undefined).error as Record<string, unknown>,
      signal: this.#ended.signal,
    };
    const transcriber = new Transcriber(context);
    this.#tools = new SessionTools(context, this.#conversation);
    const tools = this.#tools;
    this.#responses = new SessionResponses({ context, conversation: this.#conversation, transcriber, tools });
    this.#turns = new SessionTurns({
      context,
      conversation: this.#conversation,
      transcriber,
      responses: this.#responses,
    });
  }

  /** Whether a response or transcription is running. */
  get isBusy(): boolean {
    return this.#responses.isActive || this.#turns.isTranscribing;
  }

  /** Sends the first events. A model that the session cannot use ends it. */
  async start(): Promise<void> {
    try {
      const caller = await this.#options.authenticate();
      checkModels(caller, this.#settings, this.#options.services);
      this.#tools.check(this.#settings.tools, caller, "session.tools");
    } catch (failure) {
      this.#refuse(failure);
      return;
    }
    this.#options.send({ type: "session.created", session: this.#session() });
    if (this.#settings.type === "realtime") {
      this.#options.send({
        type: "conversation.created",
        conversation: { id: "conv_default", object: "realtime.conversation" },
      });
      this.#tools.list(this.#settings.tools);
    }
  }

  /** Takes a message of the client; resolves once the session can take another one. */
  async receive(message: Buffer, isBinary = false): Promise<void> {
    let eventId: string | undefined;
    try {
      if (isBinary) throw invalidRequest(BINARY, undefined, "invalid_json");
      const parsed = parseJson(message, { maxValues: MAX_VALUES });
      if (parsed.problem !== undefined) throw invalidRequest(`The event ${parsed.problem}.`, undefined, "invalid_json");
      eventId = idOf(parsed.value);
      await this.#handle(parse(ClientEvent, parsed.value));
    } catch (failure) {
      if (!this.#ended.signal.aborted) this.#options.send(this.#toErrorEvent(failure, eventId));
    }
  }

  /** Ends all work; nothing is sent afterwards. */
  end(): void {
    this.#ended.abort();
    this.#turns.close();
  }

  async #handle(event: ClientEvent): Promise<void> {
    const { type } = this.#settings;
    if (type === "transcription" && /^(conversation|response)\./.test(event.type)) {
      const message = `A transcription session takes no '${event.type}'.`;
      throw invalidRequest(message, "type", "invalid_value");
    }
    switch (event.type) {
      case "session.update": {
        const { fixed = {} } = this.#options;
        const settings = updateSettings(this.#settings, bindSession(event.session, fixed, "session"));
        const caller = await this.#options.authenticate();
        checkModels(caller, settings, this.#options.services);
        this.#tools.check(settings.tools, caller, "session.tools");
        this.#settings = settings;
        this.#options.send({ type: "session.updated", session: this.#session() });
        this.#tools.list(settings.tools);
        return this.#turns.update();
      }
      case "input_audio_buffer.append":
        return this.#turns.append(event.audio);
      case "input_audio_buffer.commit":
        return this.#turns.commit();
      case "input_audio_buffer.clear":
        return this.#turns.clear();
      case "response.create": {
        const { response = {} } = event;
        checkBound(response, this.#options.fixed ?? {}, "response");
        return this.#responses.create(response);
      }
      case "response.cancel":
        return this.#responses.cancel(event.response_id);
      default:
        return this.#changeConversation(event);
    }
  }

  async #changeConversation(event: Extract<ClientEvent, { type: `conversation.${string}` }>): Promise<void> {
    const { send } = this.#options;
    switch (event.type) {
      case "conversation.item.create": {
        const { item, audio } = toItem(event.item);
        return this.#turns.addItem(item, audio, event.previous_item_id);
      }
      case "conversation.item.retrieve":
        send({ type: "conversation.item.retrieved", item: this.#conversation.get(event.item_id) });
        return;
      case "conversation.item.delete":
        this.#conversation.remove(event.item_id);
        send({ type: "conversation.item.deleted", item_id: event.item_id });
        return;
      case "conversation.item.truncate": {
        const { item_id, content_index, audio_end_ms } = event;
        this.#conversation.truncate(item_id, content_index, audio_end_ms);
        send({ type: "conversation.item.truncated", item_id, content_index, audio_end_ms });
      }
    }
  }

  #session(): Record<string, unknown> {
    return toSession(this.#settings, { id: this.id, expiresAt: this.#options.expiresAt });
  }

  #refuse(failure: unknown): void {
    if (this.#ended.signal.aborted) return;
    this.#options.send(this.#toErrorEvent(failure, undefined));
    this.#options.close(failure instanceof Fault ? failure : new Fault("unavailable", "The session has failed."));
  }

  #toErrorEvent(failure: unknown, eventId: string | undefined) {
    if (!(failure instanceof Fault)) this.#options.reportBug(failure);
    return toErrorEvent(failure, this.#options.requestId, eventId);
  }
}

function idOf(value: unknown): string | undefined {
  const id = (value as { event_id?: unknown } | null | undefined)?.event_id;
  return typeof id === "string" ? id.slice(0, 512) : undefined;
}
