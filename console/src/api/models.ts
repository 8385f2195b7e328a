import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "./answers.ts";
import { request } from "./request.ts";

/** A model with its metadata, which `modelsQuery` asks for. */
export type ModelEntry = Answers["Model"] & { metadata: Answers["ModelMetadata"] };

export type Task = ModelEntry["metadata"]["task"];

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
    queryFn: ({ signal }) => request<Answers["VoiceList"]>("v1/audio/voices", { query: { model }, signal }),
    staleTime: 60_000,
  });
