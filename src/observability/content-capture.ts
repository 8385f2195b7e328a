/** Prompts and answers in spans: redacted by the operator's function, then limited in size. */

import { pathToFileURL } from "node:url";
import { z } from "zod";
import type { ChatContent } from "../contracts/chat-content.ts";
import { resultWithin } from "../kernel/async/timeout.ts";
import { Fault } from "../kernel/faults.ts";
import { lazy } from "../kernel/lazy.ts";
import type { Logger } from "../kernel/logger.ts";
import { limitMessages } from "./limit-messages.ts";
import type { SpanAttributes } from "./trace.ts";

export interface ContentOptions {
  /** Absolute path of a module; undefined: content is sent as it is. */
  redact: string | undefined;
  /** Maximum bytes of the input and of the output of one span, as JSON. */
  maxBytes: number;
}

/** Default export of the operator's module. Returns what may be sent; undefined: nothing. */
export type RedactContent = (content: ChatContent) => ChatContent | undefined | Promise<ChatContent | undefined>;

const REDACT_TIMEOUT_MS = 5000;
const OMITTED = { "parlance.content_omitted": true };

const messages = z.array(
  lazy.looseObject(() => ({ role: z.string(), parts: z.array(z.looseObject({ type: z.string() })) })),
);
const redactedContent = z.object({ inputMessages: messages, outputMessages: messages });

export class ContentCapture {
  readonly #redact: RedactContent;
  readonly #maxBytes: number;
  readonly #logger: Logger;

  private constructor(redact: RedactContent, maxBytes: number, logger: Logger) {
    this.#redact = redact;
    this.#maxBytes = maxBytes;
    this.#logger = logger;
  }

  /** Throws a Fault for a module that cannot be loaded. */
  static async open({ redact, maxBytes }: ContentOptions, logger: Logger): Promise<ContentCapture> {
    return new ContentCapture(redact === undefined ? (content) => content : await load(redact), maxBytes, logger);
  }

  /** Never throws: content that cannot be redacted is left out. */
  async attributesOf(content: ChatContent): Promise<SpanAttributes> {
    try {
      const redacted = await resultWithin(Promise.resolve(this.#redact(content)), REDACT_TIMEOUT_MS);
      if (redacted === undefined) return OMITTED;
      redactedContent.parse(redacted);
      const { inputMessages, outputMessages } = redacted;
      // The end of a conversation and the beginning of an answer say most.
      const input = limitMessages(inputMessages, this.#maxBytes, "newest");
      const output = limitMessages(outputMessages, this.#maxBytes, "oldest");
      return {
        "gen_ai.input.messages": input.json,
        "gen_ai.output.messages": output.json,
        ...((input.isTruncated || output.isTruncated) && { "parlance.content_truncated": true }),
      };
    } catch (failure) {
      // The message may quote content.
      const name = failure instanceof Error ? failure.name : typeof failure;
      this.#logger.warn({ error: name }, "content was left out of a span, because it could not be redacted");
      return OMITTED;
    }
  }
}

async function load(path: string): Promise<RedactContent> {
  const loaded: unknown = await import(pathToFileURL(path).href).catch((cause: unknown) => {
    const message = `opentelemetry.content.redact: cannot load ${path}: ${(cause as Error).message}`;
    throw new Fault("invalid-request", message, { cause });
  });
  const redact = (loaded as { default?: unknown }).default;
  if (typeof redact === "function") return redact as RedactContent;
  throw new Fault("invalid-request", `opentelemetry.content.redact: ${path} has no function as its default export.`);
}
