import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, request } from "../../api/request.ts";
import { mayInProject, type SignedIn } from "../../api/session.ts";

export type StoredPrompt = Answers["StoredPrompt"];
export type PromptVersion = Answers["StoredPromptVersion"];
export type PromptContent = PromptVersion["content"];
export type PromptVariable = PromptContent["variables"][number];

const PROMPTS = "v1/prompts";
/** Label of the version that requests without one use. */
export const PRODUCTION = "production";

export const promptsQuery = queryOptions({
  queryKey: ["prompts"],
  queryFn: ({ signal }) => listAll<StoredPrompt>(PROMPTS, {}, signal),
});

export function promptQuery(id: string) {
  return queryOptions({
    queryKey: ["prompt", id],
    queryFn: async ({ signal }) => {
      const [prompt, versions, usage] = await Promise.all([
        request<StoredPrompt>(pathOf(id), { signal }),
        request<Answers["StoredPromptVersionList"]>(`${pathOf(id)}/versions`, { signal }),
        request<Answers["PromptUsage"]>(`${pathOf(id)}/usage`, { signal }),
      ]);
      return { prompt, versions: versions.data, usage: usage.data };
    },
  });
}

export type PromptDetails = Awaited<ReturnType<NonNullable<ReturnType<typeof promptQuery>["queryFn"]>>>;
export type VersionUsage = PromptDetails["usage"][number];

export function createPrompt(name: string, content: PromptContent): Promise<StoredPrompt> {
  return request(PROMPTS, { method: "POST", body: { name, content, labels: [PRODUCTION] } });
}

export function addVersion(id: string, content: PromptContent, note: string): Promise<PromptVersion> {
  const body = { content, ...(note.trim() !== "" && { note: note.trim() }) };
  return request(`${pathOf(id)}/versions`, { method: "POST", body });
}

export function moveLabel(id: string, label: string, version: number): Promise<StoredPrompt> {
  return request(`${pathOf(id)}/labels/${encodeURIComponent(label)}`, { method: "POST", body: { version } });
}

export function removeLabel(id: string, label: string): Promise<StoredPrompt> {
  return request(`${pathOf(id)}/labels/${encodeURIComponent(label)}`, { method: "DELETE" });
}

export function deletePrompt(id: string): Promise<unknown> {
  return request(pathOf(id), { method: "DELETE" });
}

/** Prefixes of the queries that show prompts. */
export const PROMPT_QUERIES = [["prompt"], ["prompts"]];

export function mayWritePrompts(session: SignedIn): boolean {
  return mayInProject(session, "project.prompts.write");
}

function pathOf(id: string): string {
  return `${PROMPTS}/${encodeURIComponent(id)}`;
}
