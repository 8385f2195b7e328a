/** Responses of upstreams that have the Responses API. */

import { NativeError, type NativeEvent, type NativeFormat, type NativeReader } from "../../contracts/native-format.ts";
import type { TokenUsage } from "../../kernel/usage.ts";
import { parseResponsesUsage } from "../usage/responses-usage.ts";
import { shownPrompt } from "./response-object.ts";
import type { ResponsesBody } from "./responses-body.ts";

type Fields = Record<string, unknown>;

const LAST = new Set(["response.completed", "response.incomplete"]);

/** `store`: what the response says of being stored, which this service does rather than the upstream. */
export function nativeResponses(body: ResponsesBody, store: boolean): NativeFormat {
  const fields = {
    store,
    previous_response_id: body.previous_response_id ?? null,
    conversation: body.conversation === undefined ? null : { id: body.conversation },
    ...shownPrompt(body),
  };
  const isStateful = store || fields.previous_response_id !== null || fields.conversation !== null;
  return {
    operation: "responses",
    headers: {},
    isStateful,
    reader: (model) => new ResponsesReader({ ...fields, model }),
  };
}

class ResponsesReader implements NativeReader {
  readonly #own: Fields;
  usage: TokenUsage | undefined;

  constructor(own: Fields) {
    this.#own = own;
  }

  readEvent(event: Fields): NativeEvent {
    const { type, response, delta } = event;
    if (type === "error") throw toError(event.error ?? event);
    const textBytes = typeof delta === "string" ? Buffer.byteLength(delta) : 0;
    if (typeof response !== "object" || response === null) return { isChanged: false, isLast: false, textBytes };
    this.#rewrite(response as Fields);
    return { isChanged: true, isLast: LAST.has(String(type)), textBytes };
  }

  readComplete(answer: Fields): void {
    if (answer.object !== "response")
      throw new NativeError("The upstream answered with something other than a response.");
    this.#rewrite(answer);
  }

  #rewrite(response: Fields): void {
    if (response.status === "failed") throw toError(response.error);
    Object.assign(response, this.#own);
    this.usage = parseResponsesUsage(response) ?? this.usage;
  }
}

function toError(error: unknown): NativeError {
  const { message, code } = (error ?? {}) as Fields;
  return new NativeError(typeof message === "string" ? message : "", typeof code === "string" ? code : undefined);
}
