/** Requests of commands to a service: over HTTP, or to its routes in the command's own process. */

import type { FastifyInstance } from "fastify";
import { Fault } from "../kernel/faults.ts";
import { VERSION } from "../kernel/version.ts";

export interface ServiceClient {
  /** URL without `/v1`; empty for routes in this process. */
  origin: string;
  /** Empty for routes in this process. */
  key: string;
  /** Sends JSON, or a form over HTTP, to a path such as `/v1/models`. Throws a Fault for any status but 200. */
  send(method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response>;
  /** Sends JSON and reads the JSON answer. */
  read<Answer>(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Returns the same client in another organization, which only the operator may name. */
  inOrganization(id: string): ServiceClient;
}

interface Sent {
  method: string;
  path: string;
  headers: Record<string, string>;
  /** JSON, or a form. */
  body: string | FormData | undefined;
  signal: AbortSignal | undefined;
}

type Exchange = (request: Sent) => Promise<Response>;

export function httpClient(origin: string, key: string): ServiceClient {
  return createClient({ origin, key }, async ({ method, path, headers, body, signal }) =>
    fetch(`${origin}${path}`, {
      method,
      headers: { ...headers, authorization: `Bearer ${key}` },
      body: body ?? null,
      signal: signal ?? null,
    }).catch((failure: Error) => {
      signal?.throwIfAborted();
      const reason = failure.cause instanceof Error ? failure.cause.message : failure.message;
      throw new Fault("unavailable", `${origin} cannot be reached: ${reason}.`, { cause: failure });
    }),
  );
}

/** Client of routes in this process, whose own hook names the caller. */
export function inProcessClient(app: FastifyInstance): ServiceClient {
  return createClient({ origin: "", key: "" }, async ({ method, path, headers, body, signal }) => {
    signal?.throwIfAborted();
    const {
      statusCode,
      headers: sent,
      stream,
    } = await app.inject({
      method: method as "GET",
      url: path,
      headers,
      payloadAsStream: true,
      ...(typeof body === "string" && { payload: body }),
      ...(signal !== undefined && { signal }),
    });
    // Fetch ends a body with the reason of its signal, too.
    const frames = ReadableStream.from(stream());
    return new Response(frames, { status: statusCode, headers: { "content-type": String(sent["content-type"]) } });
  });
}

function createClient(
  service: Pick<ServiceClient, "origin" | "key">,
  exchange: Exchange,
  organizationId?: string,
): ServiceClient {
  const scopeHeaders: Record<string, string> =
    organizationId === undefined ? {} : { "openai-organization": organizationId };
  const send: ServiceClient["send"] = async (method, path, body, signal) => {
    const isForm = body instanceof FormData;
    const type = body !== undefined && !isForm && { "content-type": "application/json" };
    const headers = { "user-agent": `parlance-cli/${VERSION}`, ...scopeHeaders, ...type };
    const payload = body === undefined || isForm ? body : JSON.stringify(body);
    const response = await exchange({ method, path, headers, body: payload, signal });
    if (response.ok) return response;
    const text = await response.text();
    const message = messageIn(text) ?? `${service.origin} answered ${response.status}: ${text.slice(0, 200)}`;
    throw new Fault("upstream-failed", message);
  };
  return {
    ...service,
    send,
    read: async (...request) => (await send(...request)).json() as Promise<never>,
    inOrganization: (id) => createClient(service, exchange, id),
  };
}

function messageIn(text: string): string | undefined {
  try {
    return JSON.parse(text).error.message;
  } catch {
    return undefined;
  }
}
