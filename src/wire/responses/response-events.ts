/** Renders a chat answer as the events of a response; the last one contains the complete response. */

import { NO_USAGE } from "../../kernel/usage.ts";
import type { AnswerIdentity } from "../answer-identity.ts";
import type { ErrorBody } from "../openai/error.ts";
import type { ResponsePart, ServiceItem } from "./item-events.ts";
import type { OutputItem, ResponseEvent } from "./output-item.ts";
import { type ItemOptions, newItem } from "./output-items.ts";
import { toResponseError } from "./response-error.ts";
import { newResponse, toEnding, toUsage } from "./response-object.ts";
import type { ResponsesBody } from "./responses-body.ts";
import type { ListedItem } from "./stored-items.ts";

interface ResponseOptions extends ItemOptions {
  body: ResponsesBody;
  answer: AnswerIdentity;
  /** Returns the moderation result once the answer has ended, if the caller sees it. */
  moderation: () => Record<string, unknown> | undefined;
  /** Whether the response is to be stored. */
  store: boolean;
  /** Stores the complete response before its last event; returns whether it is stored. */
  save?: (response: CompleteResponse) => Promise<boolean>;
}

export interface CompleteResponse extends Record<string, unknown> {
  id: string;
  status: string;
  output: ListedItem[];
}

export interface NumberedEvent extends ResponseEvent {
  sequence_number: number;
}

const FIRST_EVENTS: ReadonlySet<string> = new Set(["response.created", "response.queued", "response.in_progress"]);

export class ResponseEvents {
  readonly #options: ResponseOptions;
  readonly #envelope: ReturnType<typeof newResponse>;
  /** Items that have ended, at their position; calls of tools may end in another order than they began. */
  readonly #output: (ListedItem | undefined)[] = [];
  readonly #positions = new Map<string, number>();
  #itemCount = 0;
  #sequenceNumber = 0;

  constructor(options: ResponseOptions) {
    this.#options = options;
    this.#envelope = newResponse(options.body, options.answer, options.store);
  }

  get id(): string {
    return this.#envelope.id;
  }

  /** Returns the response before it runs. */
  queued(): CompleteResponse {
    return this.#response("queued");
  }

  /** Returns the first events, which need no answer. */
  begin(): NumberedEvent[] {
    const first = this.#response(this.#options.body.background === true ? "queued" : "in_progress");
    const created = this.#event("response.created", { response: first });
    return [created, this.#event(`response.${first.status}`, { response: first })];
  }

  /** Returns an event of an upstream as the next one of this stream; undefined for a first event, which was sent. */
  adopt({ type, sequence_number: _number, ...fields }: ResponseEvent): NumberedEvent | undefined {
    if (FIRST_EVENTS.has(type)) return undefined;
    const { response } = fields;
    if (response === undefined) return this.#event(type, fields);
    const { id, created_at } = this.#envelope;
    return this.#event(type, { ...fields, response: { ...(response as object), id, created_at } });
  }

  /** Returns the last event of a response that generates nothing. */
  prepared(): NumberedEvent {
    const completed_at = Math.floor(Date.now() / 1000);
    const usage = toUsage(NO_USAGE);
    return this.#event("response.completed", { response: { ...this.#response("completed"), completed_at, usage } });
  }

  /**
   * Yields the events. Throws failures, which the caller renders with `failed`. Parts without an end belong to a client
   * that has disconnected.
   */
  async *of(parts: AsyncIterable<ResponsePart>): AsyncGenerator<NumberedEvent> {
    if (this.#sequenceNumber === 0) yield* this.begin();
    let hasBegun = this.#options.body.background !== true;
    let item: OutputItem | undefined;
    let position = 0;
    for await (const event of parts) {
      if (!hasBegun) yield this.#event("response.in_progress", { response: this.#response("in_progress") });
      hasBegun = true;
      switch (event.type) {
        case "part-start":
          position = this.#nextPosition();
          item = newItem(event.part, position, this.#options);
          yield* this.#begin(item, position);
          break;
        case "part-delta":
          yield* this.#numbered(item?.append(event.text, event.logprobs) ?? []);
          break;
        case "part-signature":
          item?.sign?.(event.signature);
          break;
        case "part-stop":
          if (item !== undefined) yield* this.#end(item, position);
          break;
        case "annotations":
          yield* this.#numbered(item?.annotate?.(event.annotations) ?? []);
          break;
        case "item-start":
          yield this.#startItem(event.item);
          break;
        case "item-event": {
          const { type, ...fields } = event.event;
          yield this.#event(type, { item_id: event.id, output_index: this.#positions.get(event.id), ...fields });
          break;
        }
        case "item-stop":
          yield this.#stopItem(event.item);
          break;
        case "end":
          if (this.#itemCount === 0) yield* this.#emptyMessage();
          yield await this.#ended(event);
      }
    }
  }

  async #ended({ reason, usage }: Extract<ResponsePart, { type: "end" }>): Promise<NumberedEvent> {
    const ending = toEnding(reason);
    this.#markLast(ending.status);
    const moderation = this.#options.moderation();
    const response: CompleteResponse = {
      ...this.#response(ending.status),
      ...ending,
      completed_at: ending.status === "completed" ? Math.floor(Date.now() / 1000) : null,
      usage: toUsage(usage),
      service_tier: usage.details?.serviceTier ?? "default",
      ...(moderation === undefined ? {} : { moderation }),
    };
    response.store = (await this.#options.save?.(response)) ?? this.#options.store;
    return this.#event(`response.${ending.status}`, { response });
  }

  /** Renders the last event of an answer that failed. */
  failed(failure: ErrorBody): NumberedEvent {
    const error = toResponseError(failure);
    const store = this.#options.store && this.#options.body.background === true;
    return this.#event("response.failed", { response: { ...this.#response("failed"), store, error } });
  }

  #nextPosition(): number {
    this.#itemCount += 1;
    return this.#itemCount - 1;
  }

  *#begin(item: OutputItem, position: number): Generator<NumberedEvent> {
    yield this.#event("response.output_item.added", { output_index: position, item: item.toJson("in_progress") });
    yield* this.#numbered(item.begin());
  }

  *#end(item: OutputItem, position: number): Generator<NumberedEvent> {
    yield* this.#numbered(item.end());
    const json = item.toJson("completed") as ListedItem;
    this.#output[position] = json;
    yield this.#event("response.output_item.done", { output_index: position, item: json });
  }

  #startItem(item: ServiceItem): NumberedEvent {
    const output_index = this.#nextPosition();
    this.#positions.set(item.id, output_index);
    return this.#event("response.output_item.added", { output_index, item });
  }

  #stopItem(item: ServiceItem): NumberedEvent {
    const output_index = this.#positions.get(item.id) ?? this.#nextPosition();
    this.#output[output_index] = item;
    return this.#event("response.output_item.done", { output_index, item });
  }

  /** Yields an empty message, because clients read the text of the first message even if the model wrote none. */
  *#emptyMessage(): Generator<NumberedEvent> {
    const position = this.#nextPosition();
    const item = newItem({ type: "text" }, position, this.#options);
    yield* this.#begin(item, position);
    yield* this.#end(item, position);
  }

  /** Sets the status of the last item, which is known only once the answer has ended. */
  #markLast(status: string): void {
    const last = this.#output.at(-1);
    if (last !== undefined && status === "incomplete") last.status = status;
  }

  #response(status: string): CompleteResponse {
    return { ...this.#envelope, status, output: this.#output.filter((item) => item !== undefined), usage: null };
  }

  *#numbered(events: readonly ResponseEvent[]): Generator<NumberedEvent> {
    for (const { type, ...fields } of events) yield this.#event(type, fields);
  }

  #event(type: string, fields: object): NumberedEvent {
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

/** Renders a failure of a forwarded stream, whose response is the upstream's. */
export function toErrorEventFrame(
  { error }: { error: { message: string; code: string | null } },
  sequenceNumber: number,
): string {
  const { code, message } = error;
  const event = { type: "error", code: code ?? "server_error", message, param: null, sequence_number: sequenceNumber };
  return toResponseFrame(event);
}
