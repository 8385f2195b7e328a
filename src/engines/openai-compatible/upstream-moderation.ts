/** A moderation model behind any API of OpenAI's kind: texts go together, an input with images goes alone. */

import { z } from "zod";
import type {
  ModerationContext,
  ModerationInput,
  ModerationModel,
  ModerationVerdict,
} from "../../contracts/moderation-model.ts";
import { lazy } from "../../kernel/lazy.ts";
import type { Exchange } from "./connection/exchange.ts";
import { parseOrUndefined, readText } from "./connection/read-body.ts";
import { readErrorResponse } from "./read-error-response.ts";
import { parseUpstreamError, UpstreamError } from "./upstream-error.ts";
import type { FaultContext } from "./upstream-fault.ts";
import { UpstreamModel } from "./upstream-model.ts";

const Answer = lazy.object(() => ({
  results: z.array(
    z.object({
      flagged: z.boolean(),
      categories: z.record(z.string(), z.boolean().nullable()),
      category_scores: z.record(z.string(), z.number().nullable()),
      category_applied_input_types: z.record(z.string(), z.array(z.enum(["text", "image"])).nullish()).nullish(),
    }),
  ),
}));
type Result = z.output<typeof Answer>["results"][number];

export class UpstreamModeration extends UpstreamModel implements ModerationModel {
  readonly task = "moderation";
  readonly categories = undefined;
  readonly thresholds = undefined;
  /** The upstream refuses what it does not support. */
  readonly takesImages = true;
  readonly languages = undefined;

  async moderate(
    inputs: readonly ModerationInput[],
    signal: AbortSignal,
    context?: ModerationContext,
  ): Promise<readonly ModerationVerdict[]> {
    if (inputs.every(({ images }) => images.length === 0)) {
      const texts = inputs.map(({ text }) => text);
      return this.#ask(texts, texts.length, context, signal);
    }
    const verdicts: ModerationVerdict[] = [];
    for (const input of inputs) verdicts.push(...(await this.#ask(toParts(input), 1, context, signal)));
    return verdicts;
  }

  async #ask(
    input: unknown,
    count: number,
    context: ModerationContext | undefined,
    signal: AbortSignal,
  ): Promise<ModerationVerdict[]> {
    const faultContext = this.contextOf(context?.model);
    const body = JSON.stringify({ model: faultContext.upstreamModel, input });
    const exchange = this.send("moderations", { body, callerHeaders: context?.callerHeaders }, signal);
    try {
      return await this.#read(exchange, count, faultContext);
    } catch (error) {
      if (signal.aborted) return [];
      throw this.toFault(error, faultContext);
    } finally {
      exchange.release(true);
    }
  }

  async #read(exchange: Exchange, count: number, faultContext: FaultContext): Promise<ModerationVerdict[]> {
    const head = await exchange.head();
    if (head === undefined) return [];
    if (head.status !== 200) throw await readErrorResponse(head, exchange, faultContext);
    const answer = parseOrUndefined(await readText(exchange));
    const error = parseUpstreamError(answer);
    if (error !== undefined) throw error;
    const checked = Answer.safeParse(answer);
    if (!checked.success) throw new UpstreamError("answered with something other than moderation results");
    const { results } = checked.data;
    if (results.length !== count)
      throw new UpstreamError(`gave ${results.length} results for ${count} inputs`, { dependsOnRequest: true });
    return results.map(toVerdict);
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
    // The upstream flagged it without a known category, so it stays flagged.
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
