/** Settings of the connection to an upstream, of whatever API. */

import { z } from "zod";
import { DAY_SECONDS } from "../../kernel/durations.ts";
import { Secret } from "../../kernel/secret.ts";
import { NEVER_FORWARDED } from "./connection/forwarded-headers.ts";
import type { EndpointAddress } from "./endpoint-settings.ts";

export const secret = z
  .string()
  .min(1)
  .transform((value) => new Secret(value));

/** Headers of the connection and the body, which the engine sets itself. */
const OWN_HEADERS = ["host", "content-length", "content-type", "transfer-encoding", "connection", "accept-encoding"];

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/;

const headerValue = z
  .string()
  .regex(/^[\t\x20-\x7e\x80-\xff]*$/, "must not contain line breaks or other characters that are invalid in a header")
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
  .regex(/^[A-Za-z0-9!#$%&'+.^_`|~-]*\*?$/, "is not a header name, optionally with a trailing *")
  .refine((value) => value !== "" && !NEVER_FORWARDED.has(value.toLowerCase()), { error: "is never forwarded" })
  .transform((value) => value.toLowerCase());

export const baseUrl = z.string().transform((value, context) => {
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
    return "must not contain a user name or a password; use api_key or headers";
  if (url.hash !== "") return "must not contain a fragment (#…)";
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
    ca_file: z
      .string()
      .min(1)
      .optional()
      .describe("PEM file of the certificate authorities to trust in place of the default ones"),
    certificate_file: z.string().min(1).optional().describe("PEM file of the client certificate"),
    key_file: z.string().min(1).optional().describe("PEM file of the client certificate's private key"),
    server_name: z.string().min(1).optional().describe("Name expected in the upstream's certificate"),
    verify: z
      .boolean()
      .default(true)
      .describe("Whether to verify the upstream's certificate; set to false only for tests"),
  })
  .refine((value) => (value.certificate_file === undefined) === (value.key_file === undefined), {
    error: "certificate_file and key_file must be set together",
  })
  .transform((value) => ({
    caFile: value.ca_file,
    certificateFile: value.certificate_file,
    keyFile: value.key_file,
    serverName: value.server_name,
    verify: value.verify,
  }));

/** Above 0 and within the range of a timer. */
export const timeoutSeconds = z.number().positive().max(DAY_SECONDS);

/** Settings that every connection to an upstream has. */
export const CONNECTION_FIELDS = {
  model: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Model name at the upstream; `*` is replaced with the part of the ID that a wildcard matched. Default: the catalog ID",
    ),
  context_window: z
    .int()
    .min(2)
    .optional()
    .describe(
      "Context window of a chat model in tokens, shown in its metadata and the upper bound of quota reservations. Default: unknown; at most 131,072 tokens are reserved for a completion",
    ),
  max_concurrency: z.int().min(1).optional().describe("Maximum concurrent requests; more wait. Default: unlimited"),
  headers: headers.describe("Additional headers, such as api-key"),
  forward_headers: z
    .array(headerPattern)
    .max(100)
    .default([])
    .describe("Request headers to forward, such as traceparent or x-*"),
  strip_headers: z.array(headerPattern).max(100).default([]).describe("Exceptions to `forward_headers`"),
  connect_timeout_seconds: timeoutSeconds
    .default(10)
    .describe("Timeout for connecting, including the TLS handshake and a proxy's tunnel"),
  first_byte_timeout_seconds: timeoutSeconds
    .default(300)
    .describe("Timeout for the first event of a stream or the first byte of a complete response"),
  idle_timeout_seconds: timeoutSeconds
    .default(120)
    .describe("Timeout between events of a stream or bytes of a response"),
  max_response_bytes: z
    .int()
    .min(1024)
    .default(64 * 1024 * 1024)
    .describe("Maximum size of a response in bytes, after decompression"),
  proxy: proxy.optional().describe("URL of an HTTP proxy, which may contain a user name and a password"),
  tls: tls.optional().describe("TLS settings of the connection to the upstream"),
};

type ConnectionFields = z.output<z.ZodObject<typeof CONNECTION_FIELDS>>;

export function toConnectionSettings(value: ConnectionFields) {
  return {
    /** Address of one endpoint of a pool; undefined: that of the base URL. */
    endpoint: undefined as EndpointAddress | undefined,
    /** Whether connections pass the guard of outgoing connections: the settings come from the API. */
    isGuarded: false,
    model: value.model,
    contextWindow: value.context_window,
    maxConcurrency: value.max_concurrency,
    headers: value.headers,
    forwardRules: { forward: value.forward_headers, strip: value.strip_headers },
    connectTimeoutSeconds: value.connect_timeout_seconds,
    firstByteTimeoutSeconds: value.first_byte_timeout_seconds,
    idleTimeoutSeconds: value.idle_timeout_seconds,
    maxResponseBytes: value.max_response_bytes,
    proxy: value.proxy,
    tls: value.tls,
  };
}

/** Settings of an upstream, whatever API it has. */
export interface UpstreamSettings extends ReturnType<typeof toConnectionSettings> {
  baseUrl: string;
  apiKey?: Secret | undefined;
  /** Whether GET /models shows that the upstream answers again. */
  probe: boolean;
  metricsPath?: string | undefined;
  metricsIntervalSeconds: number;
}

export function tlsFiles({ tls }: Pick<UpstreamSettings, "tls">): string[] {
  return [tls?.caFile, tls?.certificateFile, tls?.keyFile].filter((file) => file !== undefined);
}
