/** Answers of failed requests, which the document contains once per status and format. */

import type { z } from "zod";
import { http } from "../../kernel/node-http.ts";
import { CohereError } from "../cohere/error.ts";
import { GeminiErrorAnswer } from "../gemini/error.ts";
import { ScimErrorAnswer } from "../scim/scim-answers.ts";
import { SCIM_MEDIA_TYPE } from "../scim/scim-error.ts";
import type { Components } from "./components.ts";
import type { RegisteredOperation } from "./operation.ts";
import { AnthropicErrorAnswer, ErrorAnswer, OllamaErrorAnswer } from "./service-answers.ts";

const DESCRIPTIONS: Readonly<Record<number, string>> = {
  400: "The request is not valid; `param` names the field.",
  401: "The key is missing, wrong, revoked or expired.",
  403: "The key must not do this.",
  404: "There is no such resource.",
  405: "The path has other methods; `allow` lists them.",
  408: "The request did not arrive within the time limit.",
  409: "The request conflicts with the state of the resource.",
  412: "The resource has changed since the version in `If-Match`.",
  413: "The body is too large.",
  415: "The content type is not supported.",
  417: "The header `Expect` cannot be satisfied.",
  429: "A limit is reached; `retry-after` says when to try again.",
  431: "The headers are too large.",
  500: "The service failed. Its log has the reason under the request ID.",
  502: "An upstream failed.",
  503: "The service, or a model, is not available at the moment.",
  504: "The time limit was exceeded.",
};

const COMMON = [400, 401, 403, 404, 405, 408, 409, 413, 415, 417, 429, 431, 500, 503];
const PUBLIC = [400, 405, 408, 431, 500, 503];
const UPSTREAM = [502, 504];

const RETRY_AFTER = {
  "retry-after": { description: "Seconds until a retry may succeed.", schema: { type: "integer", minimum: 0 } },
};
const WITH_RETRY: ReadonlySet<number> = new Set([429, 503]);

interface ErrorFormat {
  /** Begins the names of its answers. */
  prefix: string;
  body: z.ZodType;
  mediaType: string;
}

const JSON_TYPE = "application/json";

/** Format of a path's errors, which clients of other vendors expect in the vendor's. */
export function errorFormatOf(path: string): ErrorFormat {
  if (path.startsWith("/scim/")) return { prefix: "Scim", body: ScimErrorAnswer, mediaType: SCIM_MEDIA_TYPE };
  if (path.startsWith("/api/")) return { prefix: "Ollama", body: OllamaErrorAnswer, mediaType: JSON_TYPE };
  if (path.startsWith("/v2/")) return { prefix: "Cohere", body: CohereError, mediaType: JSON_TYPE };
  if (path.startsWith("/v1beta/") || path.startsWith("/v1/models/{model}:"))
    return { prefix: "Gemini", body: GeminiErrorAnswer, mediaType: JSON_TYPE };
  if (path.startsWith("/v1/messages")) {
    return { prefix: "Anthropic", body: AnthropicErrorAnswer, mediaType: JSON_TYPE };
  }
  return { prefix: "", body: ErrorAnswer, mediaType: JSON_TYPE };
}

function statusesOf({ permission, path, readsIfMatch }: RegisteredOperation): readonly number[] {
  if (path.startsWith("/scim/") || readsIfMatch) return [...COMMON, 412];
  if (permission === "console" || permission === "optional-admin" || permission === "metrics") return COMMON;
  if (permission === "public") return path.includes("{") ? COMMON : PUBLIC;
  return [...COMMON, ...UPSTREAM];
}

export class ErrorResponses {
  readonly responses: Record<string, unknown> = {};
  readonly #components: Components;

  constructor(components: Components) {
    this.#components = components;
  }

  /** Returns references to the answers of an operation's failures, by status. */
  of(operation: RegisteredOperation): Record<number, unknown> {
    const format = errorFormatOf(operation.path);
    return Object.fromEntries(statusesOf(operation).map((status) => [status, this.#reference(status, format)]));
  }

  /** Returns the answer of a failure that may have `schema` in place of the common format. */
  with(schema: z.ZodType, status: number, path: string): unknown {
    const format = errorFormatOf(path);
    const { body, mediaType } = format;
    if (schema === body) return this.#reference(status, format);
    const either = { anyOf: [this.#components.answer(schema), this.#components.answer(body)] };
    return { description: DESCRIPTIONS[status], content: { [mediaType]: { schema: either } } };
  }

  #reference(status: number, { prefix, body, mediaType }: ErrorFormat) {
    const name = `${prefix}${http.STATUS_CODES[status]?.replaceAll(" ", "")}`;
    this.responses[name] ??= {
      description: DESCRIPTIONS[status],
      ...(WITH_RETRY.has(status) && { headers: RETRY_AFTER }),
      content: { [mediaType]: { schema: this.#components.answer(body) } },
    };
    return { $ref: `#/components/responses/${name}` };
  }
}
