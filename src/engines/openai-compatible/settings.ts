/** Settings of a deployment of this engine. */

import { z } from "zod";
import { Secret } from "../../secret.ts";
import { NEVER_FORWARDED } from "./forwarded-headers.ts";

const secret = z
  .string()
  .min(1)
  .transform((value) => new Secret(value));

/** They belong to the connection or to the body, which the engine makes itself. */
const OWN_HEADERS = ["host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"];

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const headerValue = z
  .string()
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, "may hold no line break and no character that a header cannot carry")
  .transform((value) => new Secret(value));

const headers = z
  .record(z.string(), headerValue)
  .superRefine((value, context) => {
    for (const name of Object.keys(value)) {
      const isOwn = OWN_HEADERS.includes(name.toLowerCase());
      if (!isOwn && HEADER_NAME.test(name)) continue;
      const message = isOwn ? "is set by Parlance itself" : "is not a header name";
      context.addIssue({ code: "custom", path: [name], message });
    }
  })
  .default({});

const headerPattern = z
  .string()
  .regex(/^[A-Za-z0-9!#$%&'+.^_`|~-]*\*?$/, "is not a header name, nor one with a last *")
  .refine((value) => value !== "" && !NEVER_FORWARDED.has(value.toLowerCase()), { error: "is never forwarded" })
  .transform((value) => value.toLowerCase());

const baseUrl = z.string().transform((value, context) => {
  const url = URL.parse(value);
  const fault = faultOf(url);
  if (url === null || fault !== undefined) {
    context.issues.push({ code: "custom", input: value, message: fault ?? "is not a URL" });
    return z.NEVER;
  }
  return url.href.replace(/\/+(?=\?|$)/, "");
});

function faultOf(url: URL | null): string | undefined {
  if (url === null) return "is not a URL, such as http://10.0.0.5:8000/v1";
  if (url.protocol !== "http:" && url.protocol !== "https:") return "must begin with http:// or https://";
  if (url.username !== "" || url.password !== "")
    return "must not hold a user name or a password; use api_key or headers";
  if (url.hash !== "") return "must not hold a fragment (#…)";
  return undefined;
}

const proxy = z
  .string()
  .refine((value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""), {
    error: "is not the http:// or https:// URL of a proxy",
  })
  .transform((value) => new Secret(value));

const tls = z
  .strictObject({
    ca_file: z.string().min(1).optional().describe("PEM file of the authorities to trust instead of the usual ones"),
    certificate_file: z.string().min(1).optional().describe("PEM file of the client's own certificate"),
    key_file: z.string().min(1).optional().describe("PEM file of the client certificate's key"),
    server_name: z.string().min(1).optional().describe("Name expected in the upstream's certificate"),
    verify: z.boolean().default(true).describe("false accepts any certificate: for tests only"),
  })
  .refine((value) => (value.certificate_file === undefined) === (value.key_file === undefined), {
    error: "certificate_file and key_file belong together",
  })
  .transform((value) => ({
    caFile: value.ca_file,
    certificateFile: value.certificate_file,
    keyFile: value.key_file,
    serverName: value.server_name,
    verify: value.verify,
  }));

/** Above 0, and not beyond what a timer can count. */
export const timeoutSeconds = z.number().positive().max(86_400);

const ability = z.boolean().optional();

const abilities = z
  .strictObject({
    tools: ability.describe("Calls tools"),
    json_schema: ability.describe(
      "Enforces JSON output. false: JSON is requested in the prompt, validated here, and requested once more if invalid",
    ),
    vision: ability.describe("Takes images"),
    logprobs: ability.describe("Tells log probabilities"),
  })
  .transform(({ json_schema, ...others }) => ({ ...others, jsonSchema: json_schema }));

export const openAiCompatibleSettings = z
  .strictObject({
    base_url: baseUrl.describe("Up to and with the version, such as http://10.0.0.5:8000/v1"),
    api_key: secret.optional().describe("Sent as Authorization: Bearer"),
    model: z
      .string()
      .min(1)
      .optional()
      .describe("The upstream's own name; `*` in it stands for what a wildcard id left open. Left out: the catalog id"),
    abilities: abilities
      .prefault({})
      .describe("For chat: what it is able to do. false refuses requests for it; left out: unknown, passed on"),
    context_window: z
      .int()
      .min(2)
      .optional()
      .describe(
        "For chat: tokens of prompt and answer together, shown in the listing. Quota never reserves more. Left out: unknown, and an answer reserves 131,072 tokens at most",
      ),
    max_concurrency: z.int().min(1).optional().describe("Requests sent at once; more wait. Left out: no bound"),
    headers: headers.describe("Additional headers, such as api-key"),
    forward_headers: z
      .array(headerPattern)
      .max(100)
      .default([])
      .describe("The caller's own headers that are passed on, such as traceparent or x-*; left out: none"),
    strip_headers: z
      .array(headerPattern)
      .max(100)
      .default([])
      .describe("Headers that are not passed on although `forward_headers` would"),
    connect_timeout_seconds: timeoutSeconds
      .default(10)
      .describe("To connect, TLS handshake and a proxy's tunnel included"),
    first_byte_timeout_seconds: timeoutSeconds
      .default(300)
      .describe("Time to the first event of a stream, or the first byte of a complete answer"),
    idle_timeout_seconds: timeoutSeconds.default(120).describe("Between events of a stream, or bytes of an answer"),
    max_response_bytes: z
      .int()
      .min(1024)
      .default(64 * 1024 * 1024)
      .describe("Longest answer, after decompression"),
    probe: z
      .boolean()
      .default(true)
      .describe(
        "While it rests after failures, GET /models finds out when it is well again, where that answers. false: a request has to",
      ),
    proxy: proxy.optional().describe("HTTP proxy to connect through; may hold a user name and password"),
    tls: tls.optional().describe("How the upstream's certificate is checked"),
  })
  .transform((value) => ({
    baseUrl: value.base_url,
    apiKey: value.api_key,
    model: value.model,
    abilities: value.abilities,
    contextWindow: value.context_window,
    maxConcurrency: value.max_concurrency,
    headers: value.headers,
    forwardRules: { forward: value.forward_headers, strip: value.strip_headers },
    connectTimeoutSeconds: value.connect_timeout_seconds,
    firstByteTimeoutSeconds: value.first_byte_timeout_seconds,
    idleTimeoutSeconds: value.idle_timeout_seconds,
    maxResponseBytes: value.max_response_bytes,
    probe: value.probe,
    proxy: value.proxy,
    tls: value.tls,
  }));

export type OpenAiCompatibleSettings = z.output<typeof openAiCompatibleSettings>;

export function tlsFiles({ tls }: OpenAiCompatibleSettings): string[] {
  return [tls?.caFile, tls?.certificateFile, tls?.keyFile].filter((file) => file !== undefined);
}
