/** Reads the key of a request. */

import type { IncomingHttpHeaders } from "node:http";
import { KEY_HEADERS } from "../contracts/key-headers.ts";
import { Fault } from "../kernel/faults.ts";

/** Returns a header's value; undefined also for an empty header, which clients send for an unset value. */
export function textOfHeader(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value.join() : value)?.trim() || undefined;
}

/**
 * Returns the key as OpenAI's clients send it, or as those of Anthropic, Azure and Google do, or as a browser does,
 * whose WebSockets send no other header than their protocols.
 */
export function sentKey(headers: IncomingHttpHeaders): string | undefined {
  return (
    bearerKey(headers.authorization) ??
    KEY_HEADERS.map((name) => textOfHeader(headers[name])).find((key) => key !== undefined) ??
    protocolKey(headers["sec-websocket-protocol"])
  );
}

/** Prefix of the WebSocket protocol that holds a browser's key. */
export const KEY_PROTOCOL = "openai-insecure-api-key.";

function protocolKey(protocols = ""): string | undefined {
  const match = protocols.split(",").find((each) => each.trim().startsWith(KEY_PROTOCOL));
  return match?.trim().slice(KEY_PROTOCOL.length) || undefined;
}

const SCHEME = "bearer";

/** Returns the Bearer token of a header; undefined without one. */
function bearerKey(header = ""): string | undefined {
  const rest = header.slice(SCHEME.length);
  const isBearer = header.slice(0, SCHEME.length).toLowerCase() === SCHEME && (rest === "" || rest.startsWith(" "));
  if (isBearer || header === "") return rest.trim() || undefined;
  const message = "The Authorization header must have the form `Bearer YOUR_KEY`.";
  throw new Fault("unauthenticated", message, { code: "invalid_api_key" });
}
