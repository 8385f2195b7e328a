import { queryOptions } from "@tanstack/react-query";
import { request } from "./request.ts";

export type Task = "chat" | "embedding" | "moderation" | "speech" | "transcription" | "image";

/** Price of a model by unit; null: none. Prices by the length of the prompt and by service tier are in `tiers`. */
interface Pricing {
  readonly prompt?: string | null;
  readonly cached_prompt?: string | null;
  readonly completion?: string | null;
  /** ISO 4217; left out for US dollars. */
  readonly currency?: string;
  /** US dollars for one unit of the currency. */
  readonly exchange_rate?: string;
  readonly [unit: string]: unknown;
}

export interface ModelEntry {
  id: string;
  owned_by: string;
  created: number;
  access_groups?: string[];
  metadata: {
    task: Task;
    status: string;
    loaded: boolean;
    memory_bytes: number | null;
    load_seconds: number | null;
    deployed: string[];
    license: string | null;
    context_window: number | null;
    max_output_tokens: number | null;
    pricing: Pricing;
    capabilities: Record<string, boolean | number | null>;
    modalities: { input: string[]; output: string[] };
    aliases: string[];
    fallbacks: string[];
    voices?: string[] | null;
    formats?: string[];
    dimensions?: number | null;
    categories?: string[] | null;
    thresholds?: Record<string, number> | null;
    languages?: string[] | null;
  };
}

/** Models that the session's project may use. */
export const modelsQuery = queryOptions({
  queryKey: ["models"],
  queryFn: async ({ signal }) => {
    const query = { include_metadata: true, include_model_access_groups: true };
    return (await request<{ data: ModelEntry[] }>("v1/models", { query, signal })).data;
  },
  staleTime: 15_000,
});

/** Voices of a speech model. */
export const voicesQuery = (model: string) =>
  queryOptions({
    queryKey: ["voices", model],
    queryFn: ({ signal }) => request<{ voices: { id: string }[] }>("v1/audio/voices", { query: { model }, signal }),
    staleTime: 60_000,
  });
