/** Records exchanges over HTTP as text, with what differs from run to run replaced. */

import { hash } from "node:crypto";

export interface RecordedRequest {
  /** Text or a form; anything else is sent as JSON. */
  body?: unknown;
  key?: string;
  headers?: Record<string, string>;
  /** Replaces the body in the recording: for bodies that other tests check, or that depend on the machine. */
  bodyAs?: string;
}

/** Headers of Node, and the same long list in every answer. */
const OMITTED_HEADERS = new Set([
  "access-control-expose-headers",
  "connection",
  "content-length",
  "date",
  "keep-alive",
  "transfer-encoding",
]);

export class WireRecorder {
  readonly origin: string;
  readonly #names = new Map<string, string>();
  readonly #exchanges: string[] = [];

  constructor(origin: string) {
    this.origin = origin;
  }

  /** Sends a request, adds the exchange to the recording and resolves with the answer's JSON, if it has any. */
  async send<Answer = Record<string, string>>(
    title: string,
    route: string,
    { body, key, headers = {}, bodyAs }: RecordedRequest = {},
  ): Promise<Answer> {
    const [method = "", path = ""] = route.split(" ");
    const isRaw = body === undefined || typeof body === "string" || body instanceof FormData;
    const response = await fetch(`${this.origin}${path}`, {
      method,
      headers: {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
        ...(!(body instanceof FormData) && body !== undefined && { "content-type": "application/json" }),
        ...headers,
      },
      body: isRaw ? (body ?? null) : JSON.stringify(body),
      redirect: "manual",
    });
    const bytes = Buffer.from(await response.arrayBuffer());
    const sent = [...response.headers].filter(([name]) => !OMITTED_HEADERS.has(name)).map((each) => each.join(": "));
    const text = bodyAs ?? toText(bytes, response.headers.get("content-type") ?? "");
    const exchange = [`## ${title}`, route, "", String(response.status), ...sent.sort(), "", text, ""].join("\n");
    this.#exchanges.push(exchange);
    return (/^[[{]/.test(String(bytes.subarray(0, 1))) ? tryParse(bytes) : {}) as Answer;
  }

  /** The recording, with the IDs of all its exchanges numbered. */
  text(): string {
    return this.#exchanges.map((each) => this.#normalize(each)).join("\n");
  }

  #normalize(text: string): string {
    return text
      .replaceAll(this.origin, "ORIGIN")
      .replace(LAST_USE, '"$1":null')
      .replace(NONCE, "'nonce-NONCE'")
      .replace(COOKIE, "$1PORT=TOKEN; Max-Age=SECONDS")
      .replace(TIMES, (_all, name, value) => `"${name}":${value.startsWith('"') ? '"TIME"' : "0"}`)
      .replaceAll(/start_time=\d+/g, "start_time=0")
      .replace(VECTORS, (vector) => `[${vector.split(",").length} numbers]`)
      .replace(SECRETS, "$1SECRET")
      .replace(SIGNING_SECRETS, (secret) => (secret.includes("...") ? "whsec_...HINT" : "whsec_SECRET"))
      .replace(REQUEST_IDS, "req_ID")
      .replace(IDS, (id, prefix = "") => this.#nameOf(id, prefix))
      .replace(TIME_HEADERS, "$1: TIME");
  }

  /** Equal IDs get equal names, so that a recording shows which answers belong together. */
  #nameOf(id: string, prefix: string): string {
    const name = this.#names.get(id) ?? `${prefix}ID${this.#names.size + 1}`;
    this.#names.set(id, name);
    return name;
  }
}

/** When and from where a key was used, which is written some seconds later. */
const LAST_USE = /"(last_used_at|last_used_address|last_used_client)":(?:null|\d+|"[^"]*")/g;
/** Keys, redacted or not, and secrets of clients. */
const SECRETS = /\b(sk-(?:admin-)?|ek_|inv-)[\w.-]{6,}/g;
const SIGNING_SECRETS = /whsec_(?:\.\.\.)?[A-Za-z0-9+/]+=*/g;
const REQUEST_IDS = /\breq_[0-9a-f]{16,}\b/g;
/** Prefix and random part, or a UUID. */
const IDS = /\b([a-z]+[a-z_-]*[-_])?(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?=[A-Za-z]*\d)[A-Za-z0-9]{16,})\b/g;
const VECTORS = /\[-?\d[\d.e-]*(?:,-?\d[\d.e-]*){15,}\]/g;
const TIMES =
  /"(created|\w+_(?:at|ms|time|duration)|memory_bytes|load_seconds|size|size_vram)":(-?\d[\d.e+-]*|"\d{4}-[^"]*")/g;
const TIME_HEADERS = /^(openai-processing-ms|x-ratelimit-reset-\w+|anthropic-ratelimit-\w+-reset|retry-after): .*$/gm;
const NONCE = /'nonce-[^']*'/g;
const COOKIE = /^(set-cookie: [a-z_]+)\d*=[^;]*; Max-Age=\d+/gm;

function toText(bytes: Buffer, contentType: string): string {
  if (/^(text\/|application\/(json|scim\+json|x-ndjson|octet-stream))/.test(contentType)) return bytes.toString();
  return bytes.length === 0 ? "" : `${bytes.length} bytes, SHA-256 ${hash("sha256", bytes)}`;
}

function tryParse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return {};
  }
}
