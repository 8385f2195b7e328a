/** A session that translates speech: a voice session in which each turn is answered by its translation, in order. */

import type { Caller } from "../../contracts/caller.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import { bindSession } from "../../wire/realtime/bind-session.ts";
import type { ServerEvent } from "../../wire/realtime/server-event.ts";
import {
  type TranslationConfiguration,
  TranslationEvent,
  type TranslationSettings,
  toTranslationSession,
  toVoiceSettings,
  updateTranslation,
} from "../../wire/realtime/translation-session.ts";
import { PCM_RATE } from "./audio-input.ts";
import { RealtimeSession, type RealtimeSessionOptions } from "./realtime-session.ts";
import { receiveEvent } from "./receive-event.ts";

/** Turns that wait to be translated; further audio is not read until one of them is. */
const MAX_WAITING = 8;

export interface TranslationSessionOptions extends Omit<RealtimeSessionOptions, "settings" | "fixed"> {
  translation: TranslationSettings;
  /** Configuration that a client secret fixes; undefined for a session that a key opened. */
  fixedTranslation: TranslationConfiguration | undefined;
  /** Ends the connection as the client asked for it. */
  finish: () => void;
}

export class TranslationSession {
  readonly #options: TranslationSessionOptions;
  readonly #session: RealtimeSession;
  #translation: TranslationSettings;
  /** The translations, one after the other. */
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;
  #hasBegun = false;
  /** What the next pieces of either transcript come after. */
  readonly #separators = { input: "", output: "" };

  constructor(options: TranslationSessionOptions) {
    this.#options = options;
    this.#translation = options.translation;
    this.#session = new RealtimeSession({
      ...options,
      settings: toVoiceSettings(options.translation, undefined),
      fixed: undefined,
      send: (event) => this.#pass(event),
    });
  }

  get isBusy(): boolean {
    return this.#waiting > 0 || this.#session.isBusy;
  }

  async start(): Promise<void> {
    await this.#session.start();
    if (!this.#hasBegun) return;
    try {
      await this.#use(this.#translation);
    } catch (failure) {
      this.#session.refuse(failure);
      return;
    }
    this.#options.send({ type: "session.created", session: this.#rendered() });
  }

  receive(message: Buffer, isBinary = false): Promise<void> {
    return receiveEvent(message, isBinary, {
      schema: TranslationEvent,
      handle: (event) => this.#handle(event),
      fail: (failure, eventId) => this.#session.report(failure, eventId),
    });
  }

  end(): void {
    this.#session.end();
  }

  async #handle(event: TranslationEvent): Promise<void> {
    switch (event.type) {
      case "session.update": {
        const { fixedTranslation } = this.#options;
        const { audio } =
          fixedTranslation === undefined ? event.session : bindSession(event.session, fixedTranslation, "session");
        await this.#use(updateTranslation(this.#translation, { audio }));
        this.#options.send({ type: "session.updated", session: this.#rendered() });
        return;
      }
      case "session.input_audio_buffer.append":
        while (this.#waiting > MAX_WAITING) await this.#last;
        return this.#session.append(event.audio);
      case "session.close":
        await this.#session.flush();
        await this.#last;
        this.#options.send({ type: "session.closed" });
        this.#options.finish();
    }
  }

  /** Applies settings to what is said from now on. Throws a Fault. */
  async #use(translation: TranslationSettings): Promise<void> {
    const caller = await this.#options.authenticate();
    const voice = await this.#voiceOf(caller, translation.language);
    await this.#session.use(toVoiceSettings(translation, voice));
    this.#translation = translation;
  }

  /** Returns a voice that speaks the language; undefined: the model has not said what it speaks. */
  async #voiceOf(caller: Caller, language: string): Promise<string | undefined> {
    const { inference, speechModel } = this.#options.services;
    const { models } = inference;
    const [model] = await models.listVoices(caller, speechModel ?? models.first(caller, "speech"));
    if (model?.languages === undefined) return undefined;
    const spoken = baseOf(language);
    if (model.languages.some((each) => baseOf(each) === spoken)) {
      return model.voices.find((voice) => baseOf(model.voiceLanguages?.[voice] ?? "") === spoken);
    }
    const message = `The voices of '${model.model}' speak ${model.languages.join(", ")}: choose one of these languages, or have the operator set realtime.speech_model.`;
    throw invalidRequest(message, "session.audio.output.language", "unsupported_value");
  }

  #rendered() {
    return toTranslationSession(this.#translation, { id: this.#session.id, expiresAt: this.#options.expiresAt });
  }

  /** Passes on what a client of translations knows of the voice session. */
  #pass(event: ServerEvent): void {
    const { send } = this.#options;
    switch (event.type) {
      case "session.created":
        this.#hasBegun = true;
        break;
      case "error":
        send(event);
        break;
      case "conversation.item.input_audio_transcription.delta":
        if (this.#translation.transcription !== null) this.#sendText("input", String(event.delta));
        break;
      case "conversation.item.input_audio_transcription.completed":
        this.#separators.input = " ";
        this.#translate(String(event.item_id), String(event.transcript));
        break;
      case "conversation.item.input_audio_transcription.failed":
        send({ type: "error", error: event.error });
        break;
      case "response.output_audio_transcript.delta":
        this.#sendText("output", String(event.delta));
        break;
      case "response.output_audio.delta": {
        const { delta } = event;
        send({ type: "session.output_audio.delta", delta, sample_rate: PCM_RATE, channels: 1, format: "pcm16" });
        break;
      }
      case "response.done": {
        this.#separators.output = " ";
        const { status_details: details } = event.response as { status_details?: { error?: unknown } | null };
        if (details?.error != null) send({ type: "error", error: details.error });
      }
    }
  }

  /** Turns follow each other in one text. */
  #sendText(side: "input" | "output", delta: string): void {
    if (delta === "") return;
    const text = this.#separators[side] + delta;
    this.#separators[side] = "";
    this.#options.send({ type: `session.${side}_transcript.delta`, delta: text, elapsed_ms: null });
  }

  /** Translates a turn after those before it, by itself: an earlier turn would be translated again. */
  #translate(itemId: string, text: string): void {
    this.#waiting += 1;
    this.#last = this.#last
      .then(async () => {
        if (text !== "") await this.#session.respondTo(text);
        await this.#session.forget(itemId);
      })
      .catch((failure: unknown) => this.#session.report(failure, undefined))
      .finally(() => {
        this.#waiting -= 1;
      });
  }
}

function baseOf(language: string): string {
  return language.toLowerCase().split("-")[0] ?? "";
}
