/** Renders a chat answer as the events of a response; the last one contains the complete response. */

import type { PartEvent } from "../answer-parts.ts";
import { type ItemOptions, newItem, type OutputItem, type ResponseEvent } from "./output-items.ts";
import { newResponse, toEnding, toUsage } from "./response-object.ts";
import type { ResponsesBody } from "./responses-body.ts";

interface ResponseOptions extends ItemOptions {
  body: ResponsesBody;
  /** Catalog ID that answers. */
  model: string;
  /** Returns the moderation result once the answer has ended. */
  moderation?: (() => Record<string, unknown>) | undefined;
}

export class ResponseEvents {
  readonly #options: ResponseOptions;
  readonly #envelope: Record<string, unknown>;
  readonly #output: Record<string, unknown>[] = [];
  #sequenceNumber = 0;

  constructor(options: ResponseOptions) {
    this.#options = options;
    this.#envelope = newResponse(options.body, options.model);
  }

  /**
   * Yields the events. Throws failures, which the caller renders with `failed`. Parts without an end belong to a client
   * that has disconnected.
   */
  async *of(parts: AsyncIterable<PartEvent>): AsyncGenerator<ResponseEvent> {
    yield this.#event("response.created", { response: this.#response("in_progress") });
    yield this.#event("response.in_progress", { response: this.#response("in_progress") });
    let item: OutputItem | undefined;
    for await (const event of parts) {
      switch (event.type) {
        case "part-start":
          item = newItem(event.part, event.index, this.#options);
          yield* this.#begin(item);
          break;
        case "part-delta":
          yield* this.#numbered(item?.append(event.text, event.logprobs) ?? []);
          break;
        case "part-stop":
          if (item !== undefined) yield* this.#end(item, "completed");
          break;
        case "end": {
          if (this.#output.length === 0) yield* this.#emptyMessage();
          const ending = toEnding(event.reason);
          this.#markLast(ending.status);
          const { moderation } = this.#options;
          const response = {
            ...this.#response(ending.status),
            ...ending,
            completed_at: ending.status === "completed" ? Math.floor(Date.now() / 1000) : null,
            usage: toUsage(event.usage),
            ...(moderation === undefined ? {} : { moderation: moderation() }),
          };
          yield this.#event(`response.${ending.status}`, { response });
        }
      }
    }
  }

  /** Renders the last event of an answer that failed. */
  failed({ error }: { error: { message: string; code: string | null } }): ResponseEvent {
    const shown = { code: error.code ?? "server_error", message: error.message };
    return this.#event("response.failed", { response: { ...this.#response("failed"), error: shown } });
  }

  *#begin(item: OutputItem): Generator<ResponseEvent> {
    const output_index = this.#output.length;
    yield this.#event("response.output_item.added", { output_index, item: item.toJson("in_progress") });
    yield* this.#numbered(item.begin());
  }

  *#end(item: OutputItem, status: "completed" | "incomplete"): Generator<ResponseEvent> {
    yield* this.#numbered(item.end());
    const output_index = this.#output.length;
    this.#output.push(item.toJson(status));
    yield this.#event("response.output_item.done", { output_index, item: this.#output[output_index] });
  }

  /** Yields an empty message, because clients read the text of the first message even if the model wrote none. */
  *#emptyMessage(): Generator<ResponseEvent> {
    const item = newItem({ type: "text" }, 0, this.#options);
    yield* this.#begin(item);
    yield* this.#end(item, "completed");
  }

  /** Sets the status of the last item, which is known only once the answer has ended. */
  #markLast(status: string): void {
    const last = this.#output.at(-1);
    if (last !== undefined && status === "incomplete") last.status = status;
  }

  #response(status: string): Record<string, unknown> {
    return { ...this.#envelope, status, output: [...this.#output], usage: null };
  }

  *#numbered(events: readonly ResponseEvent[]): Generator<ResponseEvent> {
    for (const { type, ...fields } of events) yield this.#event(type, fields);
  }

  #event(type: string, fields: object): ResponseEvent {
    const sequence_number = this.#sequenceNumber;
    this.#sequenceNumber += 1;
    return { type, sequence_number, ...fields };
  }
}

/** Returns the complete response; {} if the client has disconnected. */
export async function toResponse(events: AsyncIterable<ResponseEvent>): Promise<object> {
  let last: ResponseEvent | undefined;
  for await (const event of events) last = event;
  const { response = {} } = last ?? { type: "" };
  return (response as { status?: string }).status === "in_progress" ? {} : (response as object);
}

export async function* toResponseFrames(events: AsyncIterable<ResponseEvent>): AsyncGenerator<string> {
  for await (const event of events) yield toResponseFrame(event);
}

export function toResponseFrame(event: ResponseEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
