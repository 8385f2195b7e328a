import type { z } from "zod";
import { invalidRequest } from "../../kernel/faults.ts";
import { parseJsonOfAnySize } from "../../kernel/json/large-json.ts";
import { parse } from "../../wire/openai/validate.ts";

const MAX_VALUES = 100_000;
const BINARY = "Binary messages are not supported. Send events as JSON text, with audio in base64.";

interface Receive<Schema extends z.ZodType> {
  schema: Schema;
  handle(event: z.output<Schema>): Promise<void>;
  /** Reports a failure of the event, which the client may have given an ID. */
  fail(failure: unknown, eventId: string | undefined): void;
}

/** Reads a message of the client as an event and handles it; resolves once the session can take another one. */
export async function receiveEvent<Schema extends z.ZodType>(
  message: Buffer,
  isBinary: boolean,
  { schema, handle, fail }: Receive<Schema>,
): Promise<void> {
  let eventId: string | undefined;
  try {
    if (isBinary) throw invalidRequest(BINARY, undefined, "invalid_json");
    const parsed = await parseJsonOfAnySize(message, { maxValues: MAX_VALUES });
    if (parsed.problem !== undefined) throw invalidRequest(`The event ${parsed.problem}.`, undefined, "invalid_json");
    eventId = idOf(parsed.value);
    await handle(parse(schema, parsed.value));
  } catch (failure) {
    fail(failure, eventId);
  }
}

function idOf(value: unknown): string | undefined {
  const id = (value as { event_id?: unknown } | null | undefined)?.event_id;
  return typeof id === "string" ? id.slice(0, 512) : undefined;
}
