/** Events of the Responses API over a WebSocket: those of its streams, and what one connection needs beside them. */

import type { EventSourceMessage } from "eventsource-parser";
import { z } from "zod";
import { invalidRequest, unsupportedValue } from "../../kernel/faults.ts";
import { newId } from "../../kernel/id.ts";
import { type ErrorBody, toErrorAnswer } from "../openai/error.ts";
import { parse } from "../openai/validate.ts";
import { ResponseEvents } from "./response-events.ts";
import { readResponsesBody } from "./responses-body.ts";

const ClientEvent = z.discriminatedUnion("type", [
  z.looseObject({ type: z.literal("response.create") }),
  z.looseObject({ type: z.literal("response.steer"), previous_response_id: z.string().max(200), input: z.unknown() }),
  // Codex acknowledges a response by it. An error would be taken for the answer to its next request.
  z.looseObject({ type: z.literal("response.processed") }),
]);

export type ClientEvent = z.output<typeof ClientEvent>;
type Steer = Extract<ClientEvent, { type: "response.steer" }>;
type Fields = Readonly<Record<string, unknown>>;

/** A request for a response: its body, as POST /v1/responses takes it, and what only a connection knows. */
export interface CreateEvent {
  body: Fields;
  /** False: the response is prepared without output, for a later one to continue. */
  generates: boolean;
}

/** Throws a Fault for an event that clients do not send. */
export function readClientEvent(value: unknown): ClientEvent {
  return parse(ClientEvent, value);
}

/** Reads the lane of an event; undefined: the default one. Throws a Fault. */
export function readStreamId(value: unknown): string | undefined {
  const { stream_id: id } = (value ?? {}) as { stream_id?: unknown };
  if (id === undefined || id === null) return undefined;
  if (typeof id === "string" && /^[A-Za-z0-9_.-]{1,256}$/.test(id)) return id;
  const message =
    "Invalid value for 'stream_id': it must have 1 to 256 letters, digits, underscores, hyphens and periods. Leave it out for the default stream.";
  throw invalidRequest(message, "stream_id", "invalid_stream_id");
}

/** Throws a Fault for fields that a connection does not take. */
export function readCreateEvent(event: ClientEvent): CreateEvent {
  const { type: _type, stream_id: _streamId, generate, background, ...body } = event as Fields;
  if (background === true) {
    const message = "'background' is not supported over a WebSocket: send the request as POST /v1/responses.";
    throw unsupportedValue(message, "background");
  }
  if (generate !== undefined && generate !== null && typeof generate !== "boolean") {
    throw invalidRequest("Invalid type for 'generate': it must be a boolean.", "generate", "invalid_type");
  }
  return { body: { ...body, stream: true }, generates: generate !== false };
}

/** Returns input as items; undefined: it is no valid input. */
export function toInputItems(input: unknown): readonly unknown[] | undefined {
  if (input === undefined || input === null) return [];
  if (typeof input === "string") return [{ role: "user", content: input }];
  return Array.isArray(input) ? input : undefined;
}

/** Renders an event as JSON, with the lane that it belongs to. */
export function toSocketEvent(event: object, streamId: string | undefined): string {
  return JSON.stringify(streamId === undefined ? event : { ...event, stream_id: streamId });
}

/** The same for an event of a stream, whose JSON stays as it was written. */
export function withStreamId(json: string, streamId: string | undefined): string {
  return streamId === undefined ? json : `{"stream_id":${JSON.stringify(streamId)},${json.slice(1)}`;
}

/** Headers of a failed answer that its event shows. */
const ERROR_HEADERS = /^(retry-after$|x-should-retry$|x-request-id$|x-ratelimit-)/;

/** Renders the failed answer of a request. */
export function toErrorEvent(
  status: number,
  { error }: ErrorBody,
  headers: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  const shown = Object.entries(headers).filter(([name]) => ERROR_HEADERS.test(name));
  const entries = shown.map(([name, value]) => [name, String(value)]);
  const details = entries.length === 0 ? {} : { headers: Object.fromEntries(entries) };
  return { type: "error", status, error: { ...error, ...details } };
}

export function toFailureEvent(failure: unknown, requestId: string): Record<string, unknown> {
  const { status, body, headers } = toErrorAnswer(failure, requestId);
  return toErrorEvent(status, body, headers);
}

/** Renders the error at the end of a stream: clients read it only in the form of a connection, with a status. */
export function toStreamErrorEvent(event: Fields): Record<string, unknown> {
  const { code = null, message, param = null, sequence_number } = event;
  return { type: "error", status: 500, sequence_number, error: { type: "server_error", code, message, param } };
}

/** Answers a request to steer a running response, which no model here supports. */
export function toSteerFailure({ previous_response_id, input }: Steer): Record<string, unknown> {
  const message = "Responses cannot be steered here. Send the input in the `response.create` that follows.";
  return {
    type: "response.steer.failed",
    sequence_number: 0,
    steer: { previous_response_id, input },
    error: { type: "invalid_request_error", code: "steering_not_supported", message },
  };
}

/** Renders the events of a response without output. Throws a Fault for a body that is not valid. */
export function preparedEvents(body: Fields): { id: string; events: readonly object[] } {
  const read = readResponsesBody(body);
  const events = new ResponseEvents({
    body: read,
    answer: { id: newId(""), createdAt: Date.now(), model: read.model },
    names: new Map(),
    summarizes: false,
    moderation: () => undefined,
    store: false,
  });
  return { id: events.id, events: [...events.begin(), events.prepared()] };
}

/** Returns the type of a stream's event; undefined: it is no event, such as a final `[DONE]`. */
export function typeOfEvent({ event, data }: EventSourceMessage): string | undefined {
  if (!data.startsWith("{")) return undefined;
  return event ?? (JSON.parse(data) as { type?: string }).type;
}
