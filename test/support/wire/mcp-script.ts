/** Requests to lists of MCP servers and calls of their tools, of a service without servers. */

import type { WireScript } from "./wire-script.ts";

export const mcp: WireScript = async ({ recorder, key, adminKey }) => {
  const send = (title: string, route: string, body?: object) => recorder.send(title, route, { key, body });
  await send("list servers", "GET /v1/mcp_servers");
  await send("tools of an unknown server", "GET /v1/mcp_servers/wiki/tools");
  await send("call a tool of an unknown server", "POST /v1/mcp_servers/wiki/calls", { name: "search" });
  await send("call without a name", "POST /v1/mcp_servers/wiki/calls", { arguments: {} });
  await send("list calls", "GET /v1/organization/mcp_calls?server=wiki");
  await send("list calls of an unknown outcome", "GET /v1/organization/mcp_calls?outcome=none");
  const administer = (title: string, route: string) => recorder.send(title, route, { key: adminKey });
  await administer("list servers as an administrator", "GET /v1/organization/mcp_servers");
  await administer("tools as an administrator", "GET /v1/organization/mcp_servers/wiki/tools");
  await send("list servers of the installation with the key of a project", "GET /v1/organization/mcp_servers");
};
