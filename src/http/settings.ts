import { availableParallelism } from "node:os";
import { z } from "zod";
import { host, network, port } from "../kernel/settings/addresses.ts";
import { mapping } from "../kernel/settings/mapping.ts";

const operations = mapping(
  () => ({
    host: host.default("127.0.0.1").describe("Address to listen on."),
    port: port.describe("Port to listen on."),
  }),
  "Separate address for /health and /metrics. Default: the service's own address.",
);

const corsOrigin = z.string().refine((value) => value === "*" || URL.parse(value)?.origin === value, {
  error: "must be an origin such as https://chat.example.com, without a path, or *",
});

/** Section `server`. */
export const serverSettings = mapping(
  () => ({
    host: host.default("127.0.0.1").describe("Address to listen on; 0.0.0.0 or :: listens on every network interface."),
    port: port.default(8080).describe("Port to listen on; 0 picks a free port."),
    operations: operations.optional(),
    max_body_bytes: z
      .int()
      .min(1024)
      .max(1024 ** 3)
      .default(20 * 1024 ** 2)
      .describe("Maximum size of a JSON body in bytes; larger bodies get a 413."),
    max_upload_bytes: z
      .int()
      .min(1024)
      .max(1024 ** 4)
      .default(25 * 1024 ** 2)
      .describe("Maximum size of an uploaded audio file in bytes; larger files get a 413."),
    max_audio_seconds: z
      .int()
      .min(1)
      .max(7 * 86_400)
      .default(6 * 3600)
      .describe("Maximum duration of an uploaded recording in seconds; longer recordings get a 400."),
    max_document_cpu_seconds: z
      .number()
      .min(1)
      .max(3600)
      .default(20)
      .describe("Maximum CPU time in seconds for reading the text of one document, such as a PDF."),
    max_text_recognition_cpu_seconds: z
      .number()
      .min(1)
      .max(86_400)
      .default(300)
      .describe(
        "Maximum CPU time in seconds for recognizing the text of one scan or image, some 4 s a page, where the model `pp-ocrv6-small` is on disk.",
      ),
    ffmpeg: z
      .string()
      .min(1)
      .max(4096)
      .optional()
      .describe(
        "Path of the FFmpeg executable, or its name on PATH. It decodes formats that the built-in decoders do not support, such as WMA, AC-3 and ALAC. Default: such uploads get a 400.",
      ),
    max_moderation_inputs: z
      .int()
      .min(1)
      .max(1_000_000)
      .default(1000)
      .describe("Maximum number of entries in the `input` of a moderation request; more get a 400."),
    receive_timeout_seconds: z
      .number()
      .min(1)
      .max(3600)
      .default(60)
      .describe("Seconds within which a request's headers and body must arrive; slower requests get a 408."),
    request_timeout_seconds: z
      .number()
      .min(1)
      .max(86400)
      .default(600)
      .describe(
        "Seconds from a request's arrival to the end of its response; slower requests get a 504, or an error event in a stream. A client that reads nothing of its response for twice as long is disconnected.",
      ),
    max_connections_per_address: z
      .int()
      .min(1)
      .max(1_000_000)
      .optional()
      .describe(
        "Maximum number of connections that one remote address may have open; more are reset. Behind a reverse proxy, all connections have its address. Default: unlimited.",
      ),
    trusted_proxies: z
      .array(network)
      .max(1000)
      .default([])
      .describe(
        "Addresses and networks (such as 10.0.0.0/8) of reverse proxies whose X-Forwarded-For header is trusted. The header is ignored from all other addresses.",
      ),
    cors_origins: z
      .array(corsOrigin)
      .max(1000)
      .default([])
      .describe(
        "Origins, such as https://chat.example.com, that may call the API from a browser (CORS); * allows every origin. Anyone who can open the page can read the key that it uses.",
      ),
    console: z
      .boolean()
      .default(true)
      .describe("Whether to serve the web console at / and let browsers sign in to it with a key."),
    mismatched_ids: z
      .enum(["refuse", "ignore"])
      .default("refuse")
      .describe(
        "What to do with a request whose OpenAI-Organization or OpenAI-Project header does not match its key. Clients send such headers when OPENAI_ORG_ID or OPENAI_PROJECT_ID is set for another service. refuse: return a 401. ignore: use the key's organization and project.",
      ),
    unknown_fields: z
      .enum(["ignore", "refuse"])
      .default("ignore")
      .describe(
        "What to do with fields of a request body that Parlance does not know. ignore: they have no effect, and the header x-parlance-ignored-fields names them. refuse: 400. Misspelled fields, and fields that would change the answer's meaning, are refused in either case. Upstreams get every field of a chat.",
      ),
    upstream_urls: z
      .enum(["allow", "public", "refuse"])
      .default("public")
      .describe(
        "What to do with addresses of images and files in requests for upstream models. public: Parlance fetches them, from addresses of the internet only, and sends the content. refuse: 400. allow: upstreams get the addresses and fetch them themselves, also from their own network and their own disk. Files of /v1/files are sent as content in each case.",
      ),
    workers: z
      .union([z.int().min(1).max(256), z.literal("auto")])
      .default(1)
      .describe(
        "Number of processes that serve requests for upstream models. 1: one process serves everything. More: that many processes parse, check and route these requests, and one more runs local models, counts limits and writes to the database. auto: one for each available core.",
      ),
    drain_seconds: z
      .number()
      .min(0)
      .max(3600)
      .default(30)
      .describe("Seconds that active requests get to finish after SIGTERM; then they end with an error."),
    database_grace_seconds: z
      .number()
      .min(0)
      .max(86400)
      .default(300)
      .describe(
        "Seconds for which recently used keys keep working while the database is unavailable; then requests get a 503.",
      ),
  }),
  "HTTP server: addresses, size limits and timeouts.",
);

/** Number of processes that serve requests for upstream models. */
export function workerCount({ workers }: Pick<ServerSettings, "workers">): number {
  return workers === "auto" ? availableParallelism() : workers;
}

export type ServerSettings = z.output<typeof serverSettings>;

declare module "../kernel/settings/settings.ts" {
  interface Settings {
    server: z.output<typeof serverSettings>;
  }
}
