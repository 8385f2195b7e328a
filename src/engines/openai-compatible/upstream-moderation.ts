/** A moderation model behind any API of OpenAI's kind: texts go together, an input with images goes alone. */

import { z } from "zod";
import type { Fault } from "../../faults.ts";
import type { Logger } from "../../observability/logger.ts";
import type { ModelHealth, ModerationInput, ModerationModel, ModerationVerdict } from "../engine.ts";
import type { Connections } from "./connections.ts";
import { Exchange } from "./exchange.ts";
import { createMask } from "./mask.ts";
import type { OpenAiCompatibleSettings } from "./settings.ts";
import { UpstreamError, upstreamErrorIn } from "./upstream-error.ts";
import { brokenFault, closedFault, type FaultContext, refusalFault, retryAfterSeconds } from "./upstream-fault.ts";
import { requestTemplate, toUpstreamModel } from "./upstream-request.ts";

const Answer = z.object({
  results: z.array(
    z.object({
      flagged: z.boolean(),
      categories: z.record(z.string(), z.boolean().nullable()),
      category_scores: z.record(z.string(), z.number().nullable()),
      category_applied_input_types: z.record(z.string(), z.array(z.enum(["text", "image"])).nullish()).nullish(),
    }),
  ),
});
type Result = z.output<typeof Answer>["results"][number];

export interface UpstreamModerationOptions {
  /** The deployment's. */
  name: string;
  catalogId: string;
  settings: OpenAiCompatibleSettings;
  connections: Connections;
  logger: Logger;
}

export class UpstreamModeration implements ModerationModel {
  readonly task = "moderation";
  readonly device = "upstream";
  readonly categories = undefined;
  /** It refuses by itself what it cannot do. */
  readonly takesImages = true;
  readonly slots: number | undefined;
  readonly #options: UpstreamModerationOptions;
  readonly #context: FaultContext;
  #isClosed = false;

  constructor(options: UpstreamModerationOptions) {
    const { name, catalogId, settings } = options;
    this.slots = settings.maxConcurrency;
    this.#options = options;
    const upstreamModel = toUpstreamModel(settings.model, catalogId, catalogId);
    this.#context = { deployment: name, model: catalogId, upstreamModel, mask: createMask(settings) };
  }

  health(): ModelHealth {
    return { state: "up" };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#options.connections.close();
  }

  async moderate(inputs: readonly ModerationInput[], signal: AbortSignal): Promise<readonly ModerationVerdict[]> {
    if (this.#isClosed) throw closedFault(this.#options.name);
    if (inputs.every(({ images }) => images.length === 0)) {
      const texts = inputs.map(({ text }) => text);
      return this.#ask(texts, texts.length, signal);
    }
    const verdicts: ModerationVerdict[] = [];
    for (const input of inputs) verdicts.push(...(await this.#ask(toParts(input), 1, signal)));
    return verdicts;
  }

  async #ask(input: unknown, count: number, signal: AbortSignal): Promise<ModerationVerdict[]> {
    const { settings, connections } = this.#options;
    const { path: chatPath, ...template } = requestTemplate(settings);
    const path = chatPath.replace("/chat/completions", "/moderations");
    const body = JSON.stringify({ model: this.#context.upstreamModel, input });
    const exchange = new Exchange(connections, { ...settings, request: { ...template, path, body } }, signal);
    try {
      return await this.#read(exchange, count);
    } catch (error) {
      if (signal.aborted) return [];
      throw this.#toFault(error);
    } finally {
      exchange.release(true);
    }
  }

  async #read(exchange: Exchange, count: number): Promise<ModerationVerdict[]> {
    const head = await exchange.head();
    if (head === undefined) return [];
    const chunks: Buffer[] = [];
    for (let read = await exchange.read(); read !== undefined; read = await exchange.read()) {
      exchange.progress();
      chunks.push(...read);
    }
    const answer = parseOrUndefined(Buffer.concat(chunks).toString());
    const error = upstreamErrorIn(answer);
    if (head.status !== 200) throw refusalFault(head.status, error, retryAfterSeconds(head.headers), this.#context);
    if (error !== undefined) throw error;
    const checked = Answer.safeParse(answer);
    if (!checked.success) throw new UpstreamError("answered with something else than moderation results");
    const { results } = checked.data;
    if (results.length !== count) throw new UpstreamError(`gave ${results.length} results for ${count} inputs`);
    return results.map(toVerdict);
  }

  #toFault(error: unknown): Fault {
    const fault = brokenFault(error, this.#context);
    if (fault.kind === "upstream-failed" || fault.kind === "upstream-timeout") {
      const { cause } = fault;
      const reason = cause instanceof Error ? this.#context.mask(cause.message).slice(0, 300) : undefined;
      this.#options.logger.warn({ reason }, fault.message);
    }
    return fault;
  }
}

function toParts({ text, images }: ModerationInput): object[] {
  const shown = images.map((url) => ({ type: "image_url", image_url: { url } }));
  return text === "" && shown.length > 0 ? shown : [{ type: "text", text }, ...shown];
}

function toVerdict({ flagged, categories, category_scores, category_applied_input_types }: Result): ModerationVerdict {
  const scores = withoutNulls(category_scores);
  const flags = withoutNulls(categories);
  if (flagged && !Object.values(flags).some(Boolean)) {
    // Flagged for a reason that it does not name: never let through for that.
    const [likeliest] = Object.entries(scores).sort(([, one], [, other]) => other - one);
    flags[likeliest?.[0] ?? "flagged"] = true;
  }
  const names = Object.keys(flags);
  const appliedTo = Object.fromEntries(
    names.map((name) => [name, category_applied_input_types?.[name] ?? (["text"] as const)]),
  );
  return { scores, flags, appliedTo };
}

function withoutNulls<Value>(given: Readonly<Record<string, Value | null>>): Record<string, Value> {
  return Object.fromEntries(Object.entries(given).filter((entry): entry is [string, Value] => entry[1] !== null));
}

function parseOrUndefined(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
