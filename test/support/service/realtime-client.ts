/** A plain WebSocket client of the Realtime API that keeps the events it receives. */

import { once } from "node:events";
import { WebSocket } from "ws";
import type { Service } from "./service.ts";

export interface RealtimeEvent {
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: events have the fields of their type.
  [field: string]: any;
}

export interface RealtimeClientOptions {
  /** Path below /v1; default: that of voice and transcription sessions. */
  path?: string;
  /** Query of the URL, such as `intent=transcription`. */
  query?: string;
  /** WebSocket protocols; default: none, with the key in a header. */
  protocols?: string[];
  headers?: Record<string, string>;
  apiKey?: string;
}

export class RealtimeClient {
  readonly socket: WebSocket;
  readonly events: RealtimeEvent[] = [];
  /** Resolves with the code and reason with which the connection was closed. */
  readonly closed: Promise<{ code: number; reason: string }>;
  #seen = 0;
  #wake = () => {};

  private constructor(socket: WebSocket) {
    this.socket = socket;
    socket.on("message", (data) => {
      this.events.push(JSON.parse(String(data)));
      this.#wake();
    });
    this.closed = new Promise((resolve) => {
      socket.once("close", (code, reason) => {
        resolve({ code, reason: String(reason) });
        this.#wake();
      });
    });
  }

  /** Resolves once the connection is open; rejects when the service refuses it. */
  static async connect(service: Service, options: RealtimeClientOptions = {}): Promise<RealtimeClient> {
    const { path = "/realtime", query = "intent=transcription", protocols = [], apiKey = service.apiKey } = options;
    const headers = protocols.length > 0 ? options.headers : { authorization: `Bearer ${apiKey}`, ...options.headers };
    const url = `${service.baseUrl.replace("http:", "ws:")}${path}?${query}`;
    const socket = new WebSocket(url, protocols, { ...(headers === undefined ? {} : { headers }) });
    const client = new RealtimeClient(socket);
    await once(socket, "open");
    socket.on("error", () => {});
    return client;
  }

  send(event: object): void {
    this.socket.send(JSON.stringify(event));
  }

  /** Sends PCM in pieces of 100 ms. */
  sendAudio(pcm: Buffer): void {
    for (let start = 0; start < pcm.length; start += 4800) {
      this.send({ type: "input_audio_buffer.append", audio: pcm.subarray(start, start + 4800).toString("base64") });
    }
  }

  /** Resolves with the next event of this type, after those that earlier calls returned. */
  async next(type: string): Promise<RealtimeEvent> {
    for (;;) {
      for (; this.#seen < this.events.length; ) {
        const event = this.events[this.#seen] as RealtimeEvent;
        this.#seen += 1;
        if (event.type === type) return event;
      }
      if (this.socket.readyState === WebSocket.CLOSED) throw new Error(`closed before ${type}: ${this.types()}`);
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  types(): string {
    return this.events.map(({ type }) => type).join(" ");
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }
}

/** PCM at 24 kHz: silence. */
export function silence(seconds: number): Buffer {
  return Buffer.alloc(2 * Math.round(24_000 * seconds));
}
