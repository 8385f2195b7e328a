import { queryOptions } from "@tanstack/react-query";
import type { Task } from "../../api/models.ts";
import { request } from "../../api/request.ts";

export interface Pull {
  state: "running" | "done" | "failed" | "cancelled";
  file: string | null;
  received_bytes: number;
  total_bytes: number | null;
  error_message: string | null;
}

export interface LibraryModel {
  id: string;
  task: Task;
  description: string;
  license: string;
  languages: string | null;
  download_bytes: number | null;
  memory_bytes: number | null;
  tokens_per_second: number | null;
  is_measured: boolean;
  fits: boolean;
  is_pulled: boolean;
  pull: Pull | null;
}

export interface Library {
  machine: { cores: number; model_memory_bytes: number; free_bytes: number };
  data: LibraryModel[];
}

const RUNNING_MS = 700;
const IDLE_MS = 10_000;

/** Read often while something is pulled, so that its progress is seen after a reload too. */
export const libraryQuery = queryOptions({
  queryKey: ["library"],
  queryFn: ({ signal }) => request<Library>("v1/organization/models", { signal }),
  refetchInterval: ({ state }) =>
    state.data?.data.some(({ pull }) => pull?.state === "running") === true ? RUNNING_MS : IDLE_MS,
});

export function pullPath(id: string): string {
  return `v1/organization/models/${encodeURIComponent(id)}/pull`;
}

/** Starts a pull that goes on when the page is closed. */
export function startPull(id: string): Promise<Pull> {
  return request(pullPath(id), { method: "POST", query: { background: true } });
}
