/** The user's side of a session: audio, its turns, and items with their transcripts. */

import { invalidRequest } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import type { ConversationItem, MessageItem, SentAudio } from "../../wire/realtime/conversation-items.ts";
import type { RealtimeAudioFormat } from "../../wire/realtime/session-settings.ts";
import { toTurnDetection } from "../../wire/realtime/turn-detection.ts";
import { decodeAudio, G711_RATE, PCM_RATE } from "./audio-input.ts";
import type { Conversation } from "./conversation.ts";
import { InputBuffer } from "./input-buffer.ts";
import type { SessionContext } from "./session-context.ts";
import type { SessionResponses } from "./session-responses.ts";
import type { TranscribedAudio, Transcriber } from "./transcriber.ts";
import { TurnDetector, type TurnEvent } from "./turn-detector.ts";

export interface SessionTurnsOptions {
  context: SessionContext;
  conversation: Conversation;
  transcriber: Transcriber;
  responses: SessionResponses;
}

/** Audio of one item that a client sends at once. */
const MAX_ITEM_SECONDS = 600;
const MAX_ITEM_AUDIOS = 16;
const BASE64 = /^[A-Za-z0-9+/_-]*={0,2}$/;

export class SessionTurns {
  readonly #options: SessionTurnsOptions;
  readonly #buffer: InputBuffer;
  /** ID of the item that the turn in progress becomes. */
  #itemId = newId("item_");
  #transcribing = 0;
  /** Turn detection in use, as JSON. */
  #detection = "null";

  constructor(options: SessionTurnsOptions) {
    this.#options = options;
    this.#buffer = new InputBuffer(options.context.settings().inputFormat);
  }

  get isTranscribing(): boolean {
    return this.#transcribing > 0;
  }

  async append(audio: string): Promise<void> {
    if (!BASE64.test(audio)) throw invalidRequest("It must be audio in base64.", "audio", "invalid_value");
    const { context, transcriber } = this.#options;
    await transcriber.ready();
    await this.update();
    await this.#follow(this.#buffer.append(Buffer.from(audio, "base64"), context.settings().inputFormat));
  }

  async commit(): Promise<void> {
    this.#commit(await this.#buffer.commit());
  }

  /** Commits a turn that is being spoken; resolves once all audio has its transcript. */
  async flush(): Promise<void> {
    if (this.#buffer.isSpeaking) await this.commit();
    await this.#options.transcriber.idle();
  }

  clear(): void {
    this.#buffer.clear();
    this.#options.context.send({ type: "input_audio_buffer.cleared" });
  }

  /** Applies the session's turn detection. */
  async update(): Promise<void> {
    const { context } = this.#options;
    const { turnDetection } = context.settings();
    const serialized = JSON.stringify(turnDetection);
    if (serialized === this.#detection) return;
    const options = turnDetection && toTurnDetection(turnDetection);
    const open =
      options &&
      (async (position: number) =>
        new TurnDetector(await context.services.detectSpeech(context.signal), options, position));
    const turns = this.#buffer.detectWith(open ?? undefined);
    await this.#follow(turns);
    this.#detection = serialized;
  }

  /** Adds an item that the client sent, and transcribes its audio. Throws a Fault. */
  async addItem(item: ConversationItem, audio: readonly SentAudio[], previousId: string | undefined): Promise<void> {
    const { context, transcriber } = this.#options;
    const format = context.settings().inputFormat;
    checkAudio(audio, format);
    if (audio.length > 0) await transcriber.ready();
    this.#add(item, previousId);
    for (const { contentIndex, bytes } of audio) {
      void this.#transcribe({ item: item as MessageItem, contentIndex, read: () => decodeAudio(bytes, format) });
    }
  }

  close(): void {
    this.#buffer.close();
  }

  async #follow(turns: AsyncGenerator<TurnEvent>): Promise<void> {
    const { context, responses } = this.#options;
    for await (const turn of turns) {
      const { turnDetection } = context.settings();
      if (turn.type === "started") {
        context.send({ type: "input_audio_buffer.speech_started", audio_start_ms: turn.atMs, item_id: this.#itemId });
        if (turnDetection?.interrupt_response === true) responses.interrupt("turn_detected");
        continue;
      }
      context.send({ type: "input_audio_buffer.speech_stopped", audio_end_ms: turn.atMs, item_id: this.#itemId });
      const { item, done } = this.#commit(turn.samples);
      if (context.settings().type === "realtime" && turnDetection?.create_response === true) {
        void done.then(() => this.#respond(item));
      }
    }
  }

  /** Answers a turn, unless it had no words, or the user has gone on speaking. */
  #respond(item: MessageItem): void {
    const { context, conversation, responses } = this.#options;
    const [content] = item.content;
    const hasWords = content?.type === "input_audio" && (content.transcript ?? "") !== "";
    const isLast = conversation.items.findLast((each) => each.type === "message" && each.role === "user") === item;
    if (!hasWords || !isLast || this.#buffer.isSpeaking || responses.isActive || context.signal.aborted) return;
    void responses.create({});
  }

  #commit(samples: Float32Array): { item: MessageItem; done: Promise<void> } {
    const item: MessageItem = {
      id: this.#itemId,
      object: "realtime.item",
      type: "message",
      role: "user",
      status: "completed",
      content: [{ type: "input_audio", transcript: null }],
    };
    this.#itemId = newId("item_");
    this.#add(item, undefined, "committed");
    return { item, done: this.#transcribe({ item, contentIndex: 0, read: async () => samples }) };
  }

  #add(item: ConversationItem, previousId: string | undefined, how?: "committed"): void {
    const { context, conversation } = this.#options;
    const previous_item_id = conversation.add(item, previousId);
    if (how === "committed") {
      context.send({ type: "input_audio_buffer.committed", previous_item_id, item_id: item.id });
    }
    context.send({ type: "conversation.item.added", previous_item_id, item });
    context.send({ type: "conversation.item.done", previous_item_id, item });
    for (const item_id of conversation.trim()) context.send({ type: "conversation.item.deleted", item_id });
  }

  async #transcribe(audio: TranscribedAudio): Promise<void> {
    this.#transcribing += 1;
    await this.#options.transcriber.transcribe(audio);
    this.#transcribing -= 1;
  }
}

function checkAudio(audio: readonly SentAudio[], { type }: RealtimeAudioFormat): void {
  const bytes = audio.reduce((sum, each) => sum + each.bytes.length, 0);
  const seconds = bytes / (type === "audio/pcm" ? 2 * PCM_RATE : G711_RATE);
  if (seconds <= MAX_ITEM_SECONDS && audio.length <= MAX_ITEM_AUDIOS) return;
  const size = `${audio.length} parts with ${Math.ceil(seconds)} seconds of audio`;
  const message = `An item may have at most ${MAX_ITEM_AUDIOS} parts with ${MAX_ITEM_SECONDS} seconds of audio, not ${size}.`;
  throw invalidRequest(message, "item.content", "invalid_value");
}
