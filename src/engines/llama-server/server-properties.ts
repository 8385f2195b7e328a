/** Properties of a running llama-server's model (`GET /props` and `GET /v1/models`). */

import { z } from "zod";
import { unavailable } from "../../kernel/faults.ts";
import { lazy } from "../../kernel/lazy.ts";
import { findInfillTokens, type InfillTokens } from "./infill.ts";

export interface ServerProperties {
  slots: number;
  /** Context size of each slot in tokens. */
  contextWindow: number;
  /** Undefined when an old version does not report it. */
  vocabularySize: number | undefined;
  tools: boolean;
  reasoning: boolean;
  vision: boolean;
  /** Tokens that mark a gap; undefined for a model that does not fill in the middle. */
  infill: InfillTokens | undefined;
}

const Props = lazy.object(() => ({
  total_slots: z.int().min(1),
  default_generation_settings: z.object({ n_ctx: z.int().min(1) }),
  chat_template: z.string().default(""),
  chat_template_tool_use: z.string().optional(),
  chat_template_caps: z.record(z.string(), z.unknown()).optional(),
  modalities: z.object({ vision: z.boolean().default(false) }).default({ vision: false }),
}));
const Models = lazy.object(() => ({ data: z.array(z.object({ meta: z.object({ n_vocab: z.int() }).nullish() })) }));

const TIMEOUT_MS = 10_000;

/** Throws a Fault when a required property is missing. */
export async function readProperties(origin: string, key: string): Promise<ServerProperties> {
  const props = await get(`${origin}/props`, key, Props);
  const models = await get(`${origin}/v1/models`, key, Models);
  const caps = props.chat_template_caps;
  const template = props.chat_template_tool_use ?? props.chat_template;
  return {
    slots: props.total_slots,
    contextWindow: props.default_generation_settings.n_ctx,
    vocabularySize: models.data[0]?.meta?.n_vocab,
    // llama-server silently drops a request's tools if the template does not support them.
    tools: caps === undefined ? /\btools\b/.test(template) : caps.supports_tools === true,
    reasoning: caps?.supports_reasoning_effort === true || /enable_thinking|<think>|\[THINK\]/.test(template),
    vision: props.modalities.vision,
    // An old version has no such path.
    infill: await findInfillTokens({ origin, key }, AbortSignal.timeout(TIMEOUT_MS)).catch(() => undefined),
  };
}

async function get<Schema extends z.ZodType>(url: string, key: string, schema: Schema): Promise<z.output<Schema>> {
  const response = await fetch(url, {
    headers: { authorization: `Bearer ${key}` },
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const read = schema.safeParse(await response.json());
  if (read.success) return read.data;
  const path = new URL(url).pathname;
  throw unavailable(
    `llama-server's answer at ${path} lacks required properties: ${read.error.message}`,
    "engine_failed",
    60,
  );
}
