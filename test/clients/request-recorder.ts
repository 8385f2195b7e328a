/** A proxy between a client and the service that records each kind of request once. */

import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { release } from "node:os";
import type { Duplex } from "node:stream";
import { buffer } from "node:stream/consumers";
import { PLACEHOLDERS, type RecordedPart, type RecordedRequest } from "./recorded-request.ts";
import { replaceText, replaceTexts } from "./replace-texts.ts";

export interface RequestRecorder {
  origin: string;
  /** Returns the requests since the last call. */
  take(): RecordedRequest[];
  close(): Promise<void>;
}

/** Headers that name a key, a session or an address. */
const KEY_HEADERS = new Set(["authorization", "x-api-key", "api-key", "x-goog-api-key", "cookie"]);

/** Headers whose value says which machine recorded. */
const MACHINE_HEADERS = new Set(["x-msh-device-name", "x-msh-os-version"]);

/** Sessions and installations, which differ with each run. */
const UUIDS = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const NIL_UUID = "00000000-0000-0000-0000-000000000000";

/** Starts a recorder that forwards to `target`, such as `http://127.0.0.1:8080`. */
export async function startRecorder(target: string): Promise<RequestRecorder> {
  let recorded = new Map<string, RecordedRequest>();
  const server = createServer(async (incoming, outgoing) => {
    const body = await buffer(incoming);
    const record = await toRecord(incoming, body);
    const shape = shapeOf(record);
    if (!recorded.has(shape)) recorded.set(shape, record);
    forward(incoming, { body, target, outgoing });
  });
  server.on("upgrade", (incoming, socket, head) => forwardUpgrade(incoming, { socket, head, target }));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    take: () => {
      const requests = [...recorded.values()];
      recorded = new Map();
      return requests;
    },
    close: () => new Promise((closed) => server.close(() => closed()) && server.closeAllConnections()),
  };
}

interface Forwarding {
  body: Buffer;
  target: string;
  outgoing: ServerResponse;
}

function forward(incoming: IncomingMessage, { body, target, outgoing }: Forwarding): void {
  const { method, url, rawHeaders } = incoming;
  const forwarded = request(`${target}${url}`, { method, headers: rawHeaders }, (answer) => {
    outgoing.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
    answer.pipe(outgoing);
  });
  forwarded.on("error", () => outgoing.destroy());
  outgoing.on("close", () => forwarded.destroy());
  forwarded.end(body);
}

/** Frames of a WebSocket pass unrecorded: a replay sends requests. */
function forwardUpgrade(
  { method, url, rawHeaders }: IncomingMessage,
  { socket, head, target }: { socket: Duplex; head: Buffer; target: string },
): void {
  const { hostname, port } = new URL(target);
  const upstream = connect(Number(port), hostname);
  const lines = rawHeaders.flatMap((name, index) => (index % 2 === 0 ? [`${name}: ${rawHeaders[index + 1]}`] : []));
  upstream.write([`${method} ${url} HTTP/1.1`, ...lines, "\r\n"].join("\r\n"));
  upstream.write(head);
  for (const [from, to] of [
    [socket, upstream],
    [upstream, socket],
  ] as const) {
    from.pipe(to);
    from.on("error", () => to.destroy()).on("close", () => to.destroy());
  }
}

async function toRecord({ method, url, rawHeaders, headers }: IncomingMessage, body: Buffer): Promise<RecordedRequest> {
  const record: RecordedRequest = { method: method ?? "GET", path: url ?? "/", headers: withoutKeys(rawHeaders) };
  if (body.length === 0) return record;
  const type = headers["content-type"] ?? "";
  if (type.startsWith("multipart/form-data")) return { ...record, form: await toParts(body, type) };
  return { ...record, json: replaceTexts(JSON.parse(body.toString())) };
}

function withoutKeys(rawHeaders: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    const lower = name.toLowerCase();
    if (lower === "host") pairs.push([name, PLACEHOLDERS.host]);
    else if (MACHINE_HEADERS.has(lower)) pairs.push([name, "machine"]);
    else if (!KEY_HEADERS.has(lower)) pairs.push([name, withoutMachine(value)]);
    else pairs.push([name, value.startsWith("Bearer ") ? `Bearer ${PLACEHOLDERS.key}` : PLACEHOLDERS.key]);
  }
  return pairs;
}

/** Kernels differ between machines. */
function withoutMachine(value: string): string {
  return value.replaceAll(UUIDS, NIL_UUID).replaceAll(release(), "6.1.0");
}

async function toParts(body: Buffer, type: string): Promise<RecordedPart[]> {
  const form = await new Response(new Uint8Array(body), { headers: { "content-type": type } }).formData();
  return [...form].map(([name, value]) => {
    if (typeof value !== "string") return { name, filename: value.name, type: value.type, bytes: value.size };
    return { name, value: name === "prompt" ? replaceText(value) : value };
  });
}

/** Requests of one shape differ in texts only, so one of them is enough. */
function shapeOf({ method, path, json, form }: RecordedRequest): string {
  const fields = form?.map(({ name }) => name);
  return JSON.stringify([method, path, fields, json], (key, value: unknown) =>
    typeof value === "string" && key !== "role" && key !== "type" && !/^[01]$/.test(key) ? "" : value,
  );
}
