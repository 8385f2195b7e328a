/** One WebSocket of the Responses API: runs its requests as POST /v1/responses, in lanes, and sends their events. */

import type { Caller } from "../../../contracts/caller.ts";
import type { InternalRequest, InternalRequests } from "../../../http/internal-requests.ts";
import { KeyedLimits } from "../../../kernel/async/keyed-limits.ts";
import { Fault, invalidRequest } from "../../../kernel/faults.ts";
import { LARGE_JSON_BYTES, parseJsonOfAnySize, writeLargeJson } from "../../../kernel/json/large-json.ts";
import { EventReader } from "../../../kernel/server-sent-events.ts";
import type { ErrorBody } from "../../../wire/openai/error.ts";
import {
  type CreateEvent,
  preparedEvents,
  readClientEvent,
  readCreateEvent,
  readStreamId,
  toErrorEvent,
  toFailureEvent,
  toInputItems,
  toSocketEvent,
  toSteerFailure,
  toStreamErrorEvent,
  typeOfEvent,
  withStreamId,
} from "../../../wire/responses/socket-events.ts";
import { previousResponseNotFound } from "../response-faults.ts";
import type { ConnectionResponses, UnstoredResponse } from "./unstored-responses.ts";

export interface ResponseConnectionOptions extends Pick<InternalRequest, "headers" | "address"> {
  requests: Pick<InternalRequests, "stream">;
  unstored: ConnectionResponses;
  /** Whether the service stores responses. */
  isStoring: boolean;
  requestId: string;
  /** Counts bytes that the project has in memory, until the function that it returns releases them. Throws a Fault. */
  hold(bytes: number): () => void;
  /** Authenticates the connection's key again. Throws a Fault when it does not work any more. */
  authenticate(): Promise<Caller>;
  send(message: string): void;
  /** Resolves once the client has read most of what was sent. */
  flushed(): Promise<void>;
  /** Logs a failure that is a bug. */
  reportBug(failure: unknown): void;
  /** Ends the connection; called after the error event that says why. */
  close(failure: Fault): void;
}

/** A request of the client. */
interface Turn extends CreateEvent {
  streamId: string | undefined;
  /** Size of its message. */
  bytes: number;
  /** Releases what is counted for it; again, it does nothing. */
  release: () => void;
}

/** Requests that run or wait; further messages are not read until one has ended. */
const MAX_OPEN_TURNS = 16;
const MAX_STREAMS = 32;
/** As in a body over HTTP. */
const MAX_VALUES = 100_000;
/** Events that contain the response. */
const ENVELOPES = /^response\.(created|queued|in_progress|completed|incomplete|failed)$/;
const ENDS: ReadonlySet<string> = new Set(["response.completed", "response.incomplete"]);

export class ResponseConnection {
  readonly #options: ResponseConnectionOptions;
  readonly #ended = new AbortController();
  readonly #lanes = new KeyedLimits(1);
  readonly #streamIds = new Set<string>();
  readonly #open = new Set<Promise<void>>();
  #refusal: Fault | undefined;

  constructor(options: ResponseConnectionOptions) {
    this.#options = options;
  }

  /** Whether a response is running. */
  get isBusy(): boolean {
    return this.#open.size > 0;
  }

  /** Takes a message of the client; resolves once the connection can take another one. */
  async receive(message: Buffer, isBinary: boolean): Promise<void> {
    let streamId: string | undefined;
    let release = () => {};
    try {
      // Before a thread takes the message.
      const bytes = message.length;
      release = this.#options.hold(bytes);
      const value = await readMessage(message, isBinary);
      streamId = readStreamId(value);
      const event = readClientEvent(value);
      if (event.type === "response.processed") return;
      if (event.type === "response.steer") return this.#send(toSteerFailure(event), undefined);
      if (this.#refusal !== undefined) throw this.#refusal;
      this.#addStream(streamId);
      const turn = { ...readCreateEvent(event), streamId, bytes, release };
      if (this.#open.size >= MAX_OPEN_TURNS) await Promise.race(this.#open);
      this.#start(turn);
      release = () => {};
    } catch (failure) {
      this.#fail(failure, streamId);
    } finally {
      release();
    }
  }

  /** Refuses further requests. Running ones continue. */
  refuseFurther(refusal: Fault): void {
    this.#refusal = refusal;
  }

  /** Ends all work; nothing is sent afterwards. */
  end(): void {
    this.#ended.abort();
    this.#options.unstored.clear();
  }

  #addStream(streamId: string | undefined): void {
    if (streamId === undefined || this.#streamIds.has(streamId)) return;
    if (this.#streamIds.size >= MAX_STREAMS) {
      const message = `This connection has ${MAX_STREAMS} streams, the limit. Use one of their 'stream_id's again, or open another connection.`;
      throw invalidRequest(message, "stream_id", "websocket_stream_limit_reached");
    }
    this.#streamIds.add(streamId);
  }

  #start(turn: Turn): void {
    const run = this.#lanes.run(turn.streamId ?? "", async () => {
      try {
        if (!this.#ended.signal.aborted) await this.#run(turn);
      } catch (failure) {
        this.#fail(failure, turn.streamId);
      } finally {
        turn.release();
      }
    });
    this.#open.add(run);
    void run.then(() => this.#open.delete(run));
  }

  async #run(turn: Turn): Promise<void> {
    const { requests, headers, address } = this.#options;
    const caller = await this.#options.authenticate();
    const parent = this.#parentOf(turn);
    const path = turn.generates ? "/v1/responses" : "/v1/responses/input_tokens";
    const body = await bodyOf(turn, parent);
    // The request counts its body itself.
    turn.release();
    const answer = await requests.stream({ caller, path, body, headers, address }, this.#ended.signal);
    if (answer.status !== 200) {
      const failure = JSON.parse(await textOf(answer.body)) as ErrorBody;
      return this.#send(toErrorEvent(answer.status, failure, answer.headers), turn.streamId);
    }
    if (turn.generates) return this.#pass(answer.body, turn, parent);
    answer.body.resume();
    const { id, events } = preparedEvents({ ...withInput(turn.body) });
    await this.#keep(turn, { id, output: [] }, parent);
    for (const event of events) this.#send(event, turn.streamId);
  }

  /** Returns the response that a request continues and that only this connection has. Throws a Fault. */
  #parentOf({ body }: Turn): UnstoredResponse | undefined {
    const { previous_response_id: id, conversation } = body;
    // The operation refuses both together.
    if (typeof id !== "string" || conversation != null || toInputItems(body.input) === undefined) return undefined;
    const parent = this.#options.unstored.find(id);
    if (parent === undefined && !this.#options.isStoring) throw previousResponseNotFound(id);
    return parent;
  }

  /** Sends the events of a stream, with the response that they continue, which the operation did not see. */
  async #pass(body: AsyncIterable<Uint8Array>, turn: Turn, parent: UnstoredResponse | undefined): Promise<void> {
    const reader = new EventReader();
    for await (const chunk of body) {
      for (const message of reader.read(chunk) ?? []) {
        const type = typeOfEvent(message);
        if (type === undefined) continue;
        if (type === "error") this.#send(toStreamErrorEvent(JSON.parse(message.data)), turn.streamId);
        else if (!ENVELOPES.test(type)) this.#sendJson(withStreamId(message.data, turn.streamId));
        else {
          const event = JSON.parse(message.data) as { response?: Record<string, unknown> };
          const { response = {} } = event;
          if (parent !== undefined) response.previous_response_id = parent.id;
          if (ENDS.has(type)) await this.#keepEnded(turn, response, parent);
          this.#send(event, turn.streamId);
        }
      }
      await this.#options.flushed();
    }
  }

  async #keepEnded(
    turn: Turn,
    { id, output, store }: Record<string, unknown>,
    parent: UnstoredResponse | undefined,
  ): Promise<void> {
    // Whoever continues a stored response reads it from the storage, as long as it is there.
    if (store === true || turn.body.conversation != null || typeof id !== "string" || !Array.isArray(output)) return;
    await this.#keep(turn, { id, output }, parent);
  }

  async #keep(
    { streamId, body, bytes }: Turn,
    { id, output }: { id: string; output: readonly unknown[] },
    parent: UnstoredResponse | undefined,
  ): Promise<void> {
    const added = await itemsJson([...(toInputItems(body.input) ?? []), ...output], bytes);
    const items = joinItems(parent === undefined ? [added] : [parent.items, added]);
    const previousId = parent === undefined ? body.previous_response_id : parent.previousId;
    if (!this.#ended.signal.aborted) this.#options.unstored.keep(streamId ?? "", { id, items, previousId });
  }

  #fail(failure: unknown, streamId: string | undefined): void {
    if (this.#ended.signal.aborted) return;
    if (!(failure instanceof Fault)) this.#options.reportBug(failure);
    this.#send(toFailureEvent(failure, this.#options.requestId), streamId);
    if (failure instanceof Fault && failure.kind === "unauthenticated") this.#options.close(failure);
  }

  #send(event: object, streamId: string | undefined): void {
    this.#sendJson(toSocketEvent(event, streamId));
  }

  #sendJson(json: string): void {
    if (!this.#ended.signal.aborted) this.#options.send(json);
  }
}

async function readMessage(message: Buffer, isBinary: boolean): Promise<unknown> {
  if (isBinary) {
    throw invalidRequest("Binary messages are not supported. Send events as JSON text.", undefined, "invalid_json");
  }
  const parsed = await parseJsonOfAnySize(message, { maxValues: MAX_VALUES });
  if (parsed.problem !== undefined) throw invalidRequest(`The event ${parsed.problem}.`, undefined, "invalid_json");
  return parsed.value;
}

/** Returns the body as JSON: with the items that it continues in its input, after the stored response that these continue. */
async function bodyOf(
  { body, generates, bytes }: Turn,
  parent: UnstoredResponse | undefined,
): Promise<Uint8Array<ArrayBufferLike>> {
  if (parent === undefined) return toJson(generates ? body : withInput(body), bytes);
  const { input, ...others } = body;
  const items = joinItems([parent.items, await itemsJson(toInputItems(input) ?? [], bytes)]);
  const fields = { ...others, previous_response_id: parent.previousId };
  if (items.length === 0) return toJson(generates ? { ...fields, input: [] } : { ...fields, input: "" }, bytes);
  const start = (await toJson(fields, bytes)).subarray(0, -1);
  return Buffer.concat([start, Buffer.from(',"input":['), items, Buffer.from("]}")]);
}

/** Returns the JSON of a list without its brackets. `bytes`: about its size. */
async function itemsJson(items: readonly unknown[], bytes: number): Promise<Uint8Array> {
  return (await toJson(items, bytes)).subarray(1, -1);
}

function joinItems(lists: readonly Uint8Array[]): Buffer {
  const comma = Buffer.from(",");
  return Buffer.concat(
    lists.filter(({ length }) => length > 0).flatMap((list, index) => (index === 0 ? [list] : [comma, list])),
  );
}

async function toJson(value: unknown, bytes: number): Promise<Uint8Array> {
  return bytes < LARGE_JSON_BYTES ? Buffer.from(JSON.stringify(value)) : writeLargeJson(value);
}

/** Returns the body with an input, which a response that generates nothing may lack. */
function withInput(body: CreateEvent["body"]): CreateEvent["body"] {
  const isEmpty = Array.isArray(body.input) && body.input.length === 0;
  return isEmpty ? { ...body, input: "" } : body;
}

async function textOf(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
