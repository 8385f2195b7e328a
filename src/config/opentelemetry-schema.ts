import { z } from "zod";
import { Secret } from "../secret.ts";

export const opentelemetry = z
  .strictObject({
    endpoint: z
      .url({ protocol: /^https?$/, error: "must be an http or https URL" })
      .max(2000)
      .describe("Base URL of a collector that receives OTLP over HTTP, such as http://collector:4318."),
    headers: z
      .record(
        z.string().regex(/^[A-Za-z0-9-]{1,100}$/, { error: "must be the name of a header" }),
        z
          .string()
          .max(10_000)
          .transform((value) => new Secret(value)),
      )
      .default({})
      .describe("Headers of requests to the collector, such as an authorization from an environment variable."),
    sample_ratio: z
      .number()
      .min(0)
      .max(1)
      .default(1)
      .describe("Share of requests to trace. A `traceparent` header with a decision of the caller takes precedence."),
    service_name: z.string().min(1).max(200).default("parlance").describe("`service.name` of the traces."),
  })
  .describe("Traces over OTLP, without prompts and answers. Default: none.");
