/** A conversation over the Realtime API: microphone and loudspeaker at one end, a WebSocket at the other. */

import { request, urlOf } from "../../api/request.ts";
import { t } from "../../i18n/translate.ts";
import { ConversationLog, type TalkEvent, type TalkTurn } from "./conversation-log.ts";
import { type Microphone, openMicrophone } from "./microphone.ts";
import { fromBase64, toBase64 } from "./pcm-text.ts";
import { SpeechPlayer } from "./speech-player.ts";

export interface TalkSettings {
  model: string;
  transcriptionModel: string;
  speechModel: string;
  voice: string;
  instructions: string;
}

export type Phase = "idle" | "connecting" | "listening" | "hearing" | "thinking" | "speaking";

export interface TalkState {
  phase: Phase;
  turns: readonly TalkTurn[];
  error: Error | null;
}

/** Beside the key, what browsers send instead of a header. */
const KEY_PROTOCOL = "openai-insecure-api-key.";
const SECRET_SECONDS = 60;

export class TalkSession {
  #state: TalkState = { phase: "idle", turns: [], error: null };
  readonly #listeners = new Set<() => void>();
  #log = new ConversationLog();
  #context: AudioContext | undefined;
  #socket: WebSocket | undefined;
  #microphone: Microphone | undefined;
  #player: SpeechPlayer | undefined;
  /** Answers that the user has interrupted, whose further audio is not played. */
  readonly #interrupted = new Set<string>();

  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  readonly getState = (): TalkState => this.#state;

  /** Analysers of the microphone and the answer; undefined while there is no conversation. */
  analysers(): [AnalyserNode, AnalyserNode] | undefined {
    if (this.#microphone === undefined || this.#player === undefined) return undefined;
    return [this.#microphone.analyser, this.#player.analyser];
  }

  /** Begins a conversation. Must be called from a click: browsers play no sound otherwise. */
  async start(settings: TalkSettings): Promise<void> {
    if (this.#state.phase !== "idle") return;
    this.#log = new ConversationLog();
    this.#interrupted.clear();
    this.#set({ phase: "connecting", turns: [], error: null });
    const context = new AudioContext();
    this.#context = context;
    try {
      this.#player = new SpeechPlayer(context);
      const microphone = await openMicrophone(context, (block) => {
        this.#send({ type: "input_audio_buffer.append", audio: toBase64(block) });
      });
      // Stopped while the browser asked for permission.
      if (this.#context !== context) return microphone.close();
      this.#microphone = microphone;
      const secret = await request<{ value: string }>("v1/realtime/client_secrets", {
        method: "POST",
        body: { expires_after: { anchor: "created_at", seconds: SECRET_SECONDS }, session: toSession(settings) },
      });
      if (this.#context === context) this.#connect(settings.model, secret.value);
    } catch (failure) {
      if (this.#context === context) this.#end(failure instanceof Error ? failure : new Error(String(failure)));
    }
  }

  readonly stop = (): void => {
    if (this.#state.phase !== "idle") this.#end(null);
  };

  #connect(model: string, secret: string): void {
    const url = urlOf("v1/realtime", { model }).replace(/^http/, "ws");
    const socket = new WebSocket(url, ["realtime", KEY_PROTOCOL + secret]);
    this.#socket = socket;
    socket.onmessage = ({ data }) => this.#read(JSON.parse(data) as TalkEvent);
    socket.onclose = ({ code, reason }) => {
      if (this.#socket !== socket) return;
      const message = reason || t("The connection to Parlance closed ({{code}}).", { code: String(code) });
      this.#end(this.#state.error ?? new Error(message));
    };
  }

  #read(event: TalkEvent): void {
    this.#log.read(event, performance.now());
    const { type, item_id: item = "", delta = "", error, response } = event;
    switch (type) {
      case "session.created":
        this.#set({ phase: "listening" });
        break;
      case "input_audio_buffer.speech_started":
        this.#interrupt();
        this.#set({ phase: "hearing" });
        break;
      case "input_audio_buffer.speech_stopped":
        this.#set({ phase: "thinking" });
        break;
      case "response.output_audio.delta":
        if (this.#interrupted.has(item)) break;
        this.#player?.push(item, fromBase64(delta), () => this.#set({ phase: "listening" }));
        this.#set({ phase: "speaking" });
        break;
      case "response.done":
        if (response?.status === "failed") {
          this.#set({ error: new Error(response.status_details?.error?.message ?? t("The model could not answer.")) });
        }
        if (this.#state.phase === "thinking" && this.#player?.isPlaying !== true) this.#set({ phase: "listening" });
        break;
      case "error":
        this.#set({ error: new Error(error?.message ?? t("The session has failed.")) });
        break;
      case "conversation.item.input_audio_transcription.failed":
        this.#set({ error: new Error(error?.message ?? t("What you said could not be understood.")) });
        break;
    }
    this.#set({ turns: this.#log.turns });
  }

  /** Falls silent, and says how much of the answer was heard, so that the model knows what was said. */
  #interrupt(): void {
    const stopped = this.#player?.stop();
    if (stopped === undefined) return;
    this.#interrupted.add(stopped.item);
    this.#log.interrupt(stopped.item);
    this.#send({
      type: "conversation.item.truncate",
      item_id: stopped.item,
      content_index: 0,
      audio_end_ms: stopped.heardMs,
    });
  }

  #send(event: object): void {
    if (this.#socket?.readyState === WebSocket.OPEN) this.#socket.send(JSON.stringify(event));
  }

  #end(error: Error | null): void {
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#player?.stop();
    this.#microphone?.close();
    void this.#context?.close();
    this.#player = this.#microphone = this.#context = undefined;
    this.#set({ phase: "idle", error });
  }

  #set(part: Partial<TalkState>): void {
    this.#state = { ...this.#state, ...part };
    for (const listener of this.#listeners) listener();
  }
}

function toSession({ model, transcriptionModel, speechModel, voice, instructions }: TalkSettings): object {
  return {
    type: "realtime",
    model,
    ...(instructions.trim() !== "" && { instructions }),
    audio: {
      input: { transcription: { model: transcriptionModel } },
      output: { model: speechModel, ...(voice !== "" && { voice }) },
    },
  };
}
