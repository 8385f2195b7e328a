/** One session of the Realtime API: takes a client's events, one after the other, and sends those of the server. */

import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { bindSession, checkBound } from "../../wire/realtime/bind-session.ts";
import { ClientEvent } from "../../wire/realtime/client-events.ts";
import { toItem } from "../../wire/realtime/conversation-items.ts";
import { toErrorEvent } from "../../wire/realtime/server-event.ts";
import type { SessionStart } from "../../wire/realtime/session-query.ts";
import { type SessionSettings, toSession, updateSettings } from "../../wire/realtime/session-settings.ts";
import { checkModels } from "./check-models.ts";
import { Conversation } from "./conversation.ts";
import { receiveEvent } from "./receive-event.ts";
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
          if (failure instanceof Fault && failure.kind === "unauthenticated") this.refuse(failure);
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
      this.refuse(failure);
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

  receive(message: Buffer, isBinary = false): Promise<void> {
    return receiveEvent(message, isBinary, {
      schema: ClientEvent,
      handle: (event) => this.#handle(event),
      fail: (failure, eventId) => this.report(failure, eventId),
    });
  }

  /** Sends the failure of an event. */
  report(failure: unknown, eventId: string | undefined): void {
    if (!this.#ended.signal.aborted) this.#options.send(this.#toErrorEvent(failure, eventId));
  }

  /** Sends the failure and ends the connection. */
  refuse(failure: unknown): void {
    if (this.#ended.signal.aborted) return;
    this.#options.send(this.#toErrorEvent(failure, undefined));
    this.#options.close(failure instanceof Fault ? failure : new Fault("unavailable", "The session has failed."));
  }

  append(audio: string): Promise<void> {
    return this.#turns.append(audio);
  }

  /** Ends the turn that is being spoken; resolves once all turns have their transcripts. */
  flush(): Promise<void> {
    return this.#turns.flush();
  }

  /** Replaces the settings. Throws a Fault for models that the caller may not use. */
  async use(settings: SessionSettings): Promise<void> {
    await this.#replace(settings);
    await this.#turns.update();
  }

  /** Answers a text outside the conversation; resolves once the answer has ended. Throws a Fault while another one runs. */
  respondTo(text: string): Promise<void> {
    const input = [
      { type: "message" as const, role: "user" as const, content: [{ type: "input_text" as const, text }] },
    ];
    return this.#responses.create({ conversation: "none", input });
  }

  /** Removes an item of the conversation. Throws a Fault. */
  forget(itemId: string): Promise<void> {
    return this.#changeConversation({ type: "conversation.item.delete", event_id: undefined, item_id: itemId });
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
        await this.#replace(settings);
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
        void this.#responses.create(response);
        return;
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

  async #replace(settings: SessionSettings): Promise<void> {
    const caller = await this.#options.authenticate();
    checkModels(caller, settings, this.#options.services);
    this.#tools.check(settings.tools, caller, "session.tools");
    this.#settings = settings;
  }

  #session(): Record<string, unknown> {
    return toSession(this.#settings, { id: this.id, expiresAt: this.#options.expiresAt });
  }

  #toErrorEvent(failure: unknown, eventId: string | undefined) {
    if (!(failure instanceof Fault)) this.#options.reportBug(failure);
    return toErrorEvent(failure, this.#options.requestId, eventId);
  }
}
