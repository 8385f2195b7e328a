import { queryOptions } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { modelsQuery } from "../../api/models.ts";
import { listAll, request } from "../../api/request.ts";

export type Entry = Answers["ConfigurationEntry"];
export type Version = Answers["ConfigurationVersion"];
export type Comparison = Answers["ConfigurationComparison"];
export type Host = Answers["ConnectedHost"];
export type HostTest = Answers["ConnectionTest"];

const ENTRIES = "v1/organization/configuration/entries";
export const VERSIONS = "v1/organization/configuration/versions";

export const entriesQuery = queryOptions({
  queryKey: ["configuration", "entries"],
  queryFn: ({ signal }) => listAll<Entry>(ENTRIES, {}, signal),
});

export const versionsQuery = queryOptions({
  queryKey: ["configuration", "versions"],
  queryFn: async ({ signal }) =>
    (await request<Answers["ConfigurationVersionList"]>(VERSIONS, { signal, query: { limit: 50 } })).data,
});

/** Prefixes of the queries that a change of the configuration can affect. */
export const CONFIGURATION_QUERIES = [["configuration"], modelsQuery.queryKey];

/** Path of an entry of the API for reading and replacing it. */
export function pathOf({ kind, name }: Pick<Entry, "kind" | "name">): string {
  const id = encodeURIComponent(name);
  if (kind === "setting") return `v1/organization/configuration/settings/${id}`;
  return `v1/organization/${kind}s/${id}`;
}

/** Body that replaces an entry. */
export function bodyOf({ kind }: Pick<Entry, "kind">, value: unknown): unknown {
  return kind === "setting" ? { value } : value;
}
