import { queryOptions } from "@tanstack/react-query";
import { request } from "./request.ts";

export type Task = "chat" | "embedding" | "moderation" | "speech" | "transcription";

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
    pricing: Record<string, string | null>;
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
