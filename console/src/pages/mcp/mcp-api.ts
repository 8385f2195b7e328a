import { queryOptions, useQuery } from "@tanstack/react-query";
import type { Answers } from "../../api/answers.ts";
import { listAll, type Page, request } from "../../api/request.ts";
import { may, type SignedIn, useSession } from "../../api/session.ts";

export type McpServer = Answers["McpServer"];
export type McpTool = Answers["McpTool"];
export type McpCall = Answers["McpCall"];
export type McpCallResult = Answers["McpCallResult"];
export type ServerEntry = Answers["ConfigurationEntry"];
export type McpCallPage = Page<McpCall>;

const OF_PROJECT = "v1/mcp_servers";
const OF_INSTALLATION = "v1/organization/mcp_servers";
/** The service asks each server again after a minute. */
const REFRESH_MS = 15_000;
const REFRESH_STARTING_MS = 2_000;

export const MCP = ["mcp"];
export const MCP_CALLS = [...MCP, "calls"];
/** Prefixes of the queries that a change of servers affects. */
export const SERVER_QUERIES = [MCP, ["configuration"]];
export const CALLS_PATH = "v1/organization/mcp_calls";

/** Whether a session sees the servers of all projects, with their settings. */
export function managesServers(session: SignedIn): boolean {
  return session.organization.is_default && may(session, "organization.read");
}

/** Whether a session adds, changes and removes servers. */
export function changesServers(session: SignedIn): boolean {
  return session.organization.is_default && may(session, "organization.configuration.write");
}

/** Servers of the file and of the API, also those that are not in force. */
export const serverEntriesQuery = queryOptions({
  queryKey: ["configuration", "entries", "mcp_server"],
  queryFn: ({ signal }) =>
    listAll<ServerEntry>("v1/organization/configuration/entries", { kind: "mcp_server" }, signal),
});

/** Tests a server that need not be saved. */
export function testServer(value: object): Promise<Answers["McpServerTest"]> {
  return request(`${OF_INSTALLATION}/test`, { method: "POST", body: value });
}

/** Adds a server, or replaces `entry` unless somebody else has changed it. */
export function saveServer(value: object, entry: ServerEntry | undefined): Promise<ServerEntry> {
  if (entry === undefined) return request(OF_INSTALLATION, { method: "POST", body: value });
  const headers = { "if-match": `"${entry.version}"` };
  return request(entryPath(entry.name), { method: "POST", body: value, headers });
}

export function removeServer(name: string): Promise<unknown> {
  return request(entryPath(name), { method: "DELETE" });
}

function entryPath(name: string): string {
  return `${OF_INSTALLATION}/${encodeURIComponent(name)}`;
}

/** Servers with their settings. What one with accounts offers is what the session's person or project sees of it. */
async function listOfInstallation(signal: AbortSignal): Promise<McpServer[]> {
  const servers = await listAll<McpServer>(OF_INSTALLATION, {}, signal);
  if (!servers.some(({ oauth }) => oauth)) return servers;
  // A session without a project has none.
  const usable = await listAll<McpServer>(OF_PROJECT, {}, signal).catch(() => []);
  return servers.map((server) => {
    const match = server.oauth ? usable.find(({ id }) => id === server.id) : undefined;
    return match === undefined || server.settings === undefined ? server : { ...match, settings: server.settings };
  });
}

export const serversQuery = (isManager: boolean) =>
  queryOptions({
    queryKey: [...MCP, "servers", isManager],
    queryFn: ({ signal }) => (isManager ? listOfInstallation(signal) : listAll<McpServer>(OF_PROJECT, {}, signal)),
    refetchInterval: ({ state }) =>
      state.data?.some(({ status }) => status === "starting") ? REFRESH_STARTING_MS : REFRESH_MS,
  });

export const toolsQuery = (server: string, isManager: boolean) =>
  queryOptions({
    queryKey: [...MCP, "tools", server, isManager],
    queryFn: ({ signal }) =>
      listAll<McpTool>(`${isManager ? OF_INSTALLATION : OF_PROJECT}/${encodeURIComponent(server)}/tools`, {}, signal),
  });

/** Servers that the project of the session may use, whoever looks. */
export function useProjectServers(): McpServer[] {
  const { project } = useSession();
  const { data = [] } = useQuery({ ...serversQuery(false), enabled: project !== null });
  return data;
}

/** Calls a tool with the permissions of the session's project. */
export function callTool(
  server: string,
  name: string,
  input: Record<string, unknown>,
  signal: AbortSignal,
): Promise<McpCallResult> {
  const path = `${OF_PROJECT}/${encodeURIComponent(server)}/calls`;
  return request<McpCallResult>(path, { method: "POST", body: { name, arguments: input }, signal });
}
