import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { request } from "../../api/request.ts";

export type Library = Answers["ModelLibrary"];
export type LibraryModel = Library["data"][number];
export type Pull = Answers["ModelPull"];

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
