/** Reads an engine's load from its own metrics: Prometheus text, or llama-server's list of slots. */

import { z } from "zod";
import type { EngineLoad } from "../../contracts/open-model.ts";
import { parseOrUndefined } from "./connection/read-body.ts";

/** Metrics by what they report. vLLM renamed `gpu_cache_usage_perc` in its version 1 engine. */
const METRICS: Readonly<Record<string, keyof EngineLoad>> = {
  "vllm:num_requests_running": "running",
  "vllm:num_requests_waiting": "waiting",
  "vllm:gpu_cache_usage_perc": "cacheUsage",
  "vllm:kv_cache_usage_perc": "cacheUsage",
  "llamacpp:requests_processing": "running",
  "llamacpp:requests_deferred": "waiting",
  "sglang:num_running_reqs": "running",
  "sglang:num_queue_reqs": "waiting",
  "sglang:token_usage": "cacheUsage",
};

const SAMPLE = new RegExp(`^(${Object.keys(METRICS).join("|")})(?:\\{[^\\n]*\\})?[ \\t]+([^\\s]+)`, "gm");

const Slots = z.array(z.object({ is_processing: z.boolean() })).min(1);

/**
 * Sums the samples of all models and data-parallel engines behind the address; their cache usage is the highest one.
 * Undefined for a text without the running requests of a known engine.
 */
export function parseEngineLoad(text: string): EngineLoad | undefined {
  if (text.startsWith("[")) return parseSlots(text);
  const load: Partial<Record<keyof EngineLoad, number>> = {};
  for (const [, name = "", sample] of text.matchAll(SAMPLE)) {
    const value = Number(sample);
    const field = METRICS[name];
    if (field === undefined || !Number.isFinite(value) || value < 0) continue;
    load[field] = field === "cacheUsage" ? Math.max(load[field] ?? 0, value) : (load[field] ?? 0) + value;
  }
  const { running, waiting = 0, cacheUsage } = load;
  return running === undefined ? undefined : { running, waiting, cacheUsage };
}

/** Requests that wait for a slot are not in the list. */
function parseSlots(json: string): EngineLoad | undefined {
  const slots = Slots.safeParse(parseOrUndefined(json));
  if (!slots.success) return undefined;
  const running = slots.data.filter((slot) => slot.is_processing).length;
  return { running, waiting: 0, cacheUsage: undefined };
}
