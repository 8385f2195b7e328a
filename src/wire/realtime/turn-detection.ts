/** Turn detection of a session: when speech begins and ends, and whether the model then answers. */

import { z } from "zod";
import { lazy } from "../../kernel/lazy.ts";

const behavior = { create_response: z.boolean().default(true), interrupt_response: z.boolean().default(true) };

export const TurnDetectionField = z.discriminatedUnion("type", [
  lazy.object(() => ({
    type: z.literal("server_vad"),
    threshold: z.number().min(0).max(1).default(0.5),
    prefix_padding_ms: z.int().min(0).max(2000).default(300),
    silence_duration_ms: z.int().min(100).max(10_000).default(500),
    idle_timeout_ms: z.null({ error: "idle timeouts are not supported; leave it out" }).default(null),
    ...behavior,
  })),
  lazy.object(() => ({
    type: z.literal("semantic_vad"),
    eagerness: z.enum(["low", "medium", "high", "auto"]).default("auto"),
    ...behavior,
  })),
]);
export type TurnDetectionField = z.output<typeof TurnDetectionField>;

export interface TurnDetection {
  /** Probability above which a window is speech. */
  threshold: number;
  prefixPaddingSeconds: number;
  /** Silence that ends a turn. */
  silenceSeconds: number;
}

/** Silence that ends a turn, by eagerness: there is no model of meaning, so `semantic_vad` waits longer or shorter. */
const SILENCE_SECONDS = { low: 1.2, medium: 0.7, auto: 0.7, high: 0.4 } as const;

export function toTurnDetection(field: TurnDetectionField): TurnDetection {
  if (field.type === "semantic_vad") {
    return { threshold: 0.5, prefixPaddingSeconds: 0.3, silenceSeconds: SILENCE_SECONDS[field.eagerness] };
  }
  return {
    threshold: field.threshold,
    prefixPaddingSeconds: field.prefix_padding_ms / 1000,
    silenceSeconds: field.silence_duration_ms / 1000,
  };
}
