import cors from "@fastify/cors";
import type { FastifyInstance } from "fastify";

/** Response headers that a page's script may read in addition to those that browsers always expose. */
const EXPOSED_HEADERS = [
  "x-request-id",
  "openai-processing-ms",
  "retry-after",
  "age",
  "x-parlance-cache",
  "x-parlance-cache-key",
  "x-parlance-cache-reason",
  "x-parlance-deployment",
  "x-parlance-fallback",
  "x-parlance-guardrails",
  "x-parlance-ignored-fields",
  "x-parlance-status",
  "x-ratelimit-limit-requests",
  "x-ratelimit-remaining-requests",
  "x-ratelimit-reset-requests",
  "x-ratelimit-limit-tokens",
  "x-ratelimit-remaining-tokens",
  "x-ratelimit-reset-tokens",
];

/** Lets scripts of these origins call the API. Cookies are never allowed: the caller sends its key as a header. */
export function allowOrigins(app: FastifyInstance, origins: readonly string[]): void {
  if (origins.length === 0) return;
  app.register(cors, {
    origin: origins.includes("*") ? "*" : [...origins],
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    exposedHeaders: EXPOSED_HEADERS,
    maxAge: 600,
    // Any OPTIONS request is answered, as proxies and monitors send it without the preflight's headers.
    strictPreflight: false,
  });
}
