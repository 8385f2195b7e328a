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
  const administer = (title: string, route: string, body?: object) =>
    recorder.send(title, route, { key: adminKey, body });
  await administer("list servers as an administrator", "GET /v1/organization/mcp_servers");
  await administer("tools as an administrator", "GET /v1/organization/mcp_servers/wiki/tools");
  await send("list servers of the installation with the key of a project", "GET /v1/organization/mcp_servers");
  const ENTRY = "/v1/organization/mcp_servers";
  const server = { name: "docs", url: "http://127.0.0.1:9/mcp", headers: { "x-token": "recorded" } };
  await administer("create a server", `POST ${ENTRY}?reason=Docs`, server);
  await administer("create a server again", `POST ${ENTRY}`, server);
  await administer("create a server with a program", `POST ${ENTRY}`, { name: "local", command: ["/bin/sh"] });
  await administer("retrieve a server", `GET ${ENTRY}/docs`);
  await administer("replace a server", `POST ${ENTRY}/docs`, { ...server, price_per_call: "0.01" });
  await administer("rename a server", `POST ${ENTRY}/docs`, { ...server, name: "other" });
  await administer("test a server that does not answer", `POST ${ENTRY}/test`, { ...server, name: "down" });
  await send("account at a server without accounts", "GET /v1/mcp_servers/docs/connection");
  await send("connect an account of a server without accounts", "POST /v1/mcp_servers/docs/connection");
  await send("disconnect an account of a server without accounts", "DELETE /v1/mcp_servers/docs/connection");
  await administer("remove a server", `DELETE ${ENTRY}/docs`);
  await administer("remove an unknown server", `DELETE ${ENTRY}/docs`);
  await send("message without servers", "POST /mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" });
  await send("message for an unknown server", "POST /mcp/docs", { jsonrpc: "2.0", id: 1, method: "tools/list" });
  await send("metadata of /mcp without servers", "GET /.well-known/oauth-protected-resource/mcp");
};
