import { queryOptions } from "@tanstack/react-query";
import { queryClient } from "../../api/query-client.ts";
import { listAll, retrieveOrNull } from "../../api/request.ts";
import { msg, t } from "../../i18n/translate.ts";
import { keyPath, projectsQuery } from "../projects/projects-api.ts";
import type { Group } from "./groups.ts";

interface GroupId {
  id: string;
  project: string | null;
}

/** Keys whose names are read; further ones are shown by their IDs. */
const MAX_NAMED_KEYS = 100;

const OPERATIONS = new Map([
  ["chat", msg("Chat")],
  ["embedding", msg("Embeddings")],
  ["moderation", msg("Moderation")],
  ["speech", msg("Speech")],
  ["transcription", msg("Transcription")],
  ["image", msg("Images")],
]);

const userNamesQuery = queryOptions({
  queryKey: ["users", "names"],
  queryFn: ({ signal }) => listAll<{ id: string; name: string }>("v1/organization/users", {}, signal),
  staleTime: 60_000,
});

/** Names of groups by their IDs. A project's own key may list neither projects nor keys. */
export async function groupNames(
  groupBy: Group,
  groups: readonly GroupId[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, string>> {
  if (groupBy === "operation") return new Map([...OPERATIONS].map(([id, name]) => [id, t(name)]));
  if (groupBy === "project_id") {
    const projects = await queryClient.ensureQueryData(projectsQuery(true)).catch(() => []);
    return new Map(projects.map(({ id, name }) => [id, name]));
  }
  if (groupBy === "user_id") {
    const users = await queryClient.ensureQueryData(userNamesQuery).catch(() => []);
    return new Map(users.map(({ id, name }) => [id, name]));
  }
  if (groupBy !== "api_key_id") return new Map();
  const projectOf = new Map(groups.map(({ id, project }) => [id, project]));
  const names = await Promise.all(
    [...projectOf]
      .slice(0, MAX_NAMED_KEYS)
      .map(async ([id, project]) => [id, await keyName(project, id, signal)] as const),
  );
  return new Map(names.flatMap(([id, name]) => (name === undefined ? [] : [[id, name]])));
}

/** Name of a key that was not revoked. */
async function keyName(project: string | null, id: string, signal: AbortSignal): Promise<string | undefined> {
  if (project === null) return undefined;
  const entry = await queryClient
    .ensureQueryData({
      queryKey: ["key-name", project, id],
      queryFn: () => retrieveOrNull<{ name: string }>(keyPath(project, id), signal),
      retry: false,
    })
    .catch(() => null);
  return entry?.name;
}
