/** Names and addresses at /mcp, where all servers are behind one address; at /mcp/{server} they are the server's. */

import { serviceFunctionName } from "../../wire/responses/responses-tools.ts";
import type { CallToolResult } from "./mcp-connection.ts";

type Block = NonNullable<CallToolResult["content"]>[number];

const SCHEME = "mcp+";

/** Name of a tool or prompt: the server's, `__` and its name. Names of servers have no underscores. */
export function offeredName(name: string, server: string): string {
  return serviceFunctionName(name, server);
}

/** Address of a resource, or a template of addresses: a valid URI, whose scheme names the server. */
export function offeredUri(uri: string, server: string): string {
  return `${SCHEME}${server}+${uri}`;
}

/** Server and address of a resource; undefined for an address that is not of /mcp. Schemes have no case. */
export function readOfferedUri(uri: string): { server: string; uri: string } | undefined {
  const end = uri.indexOf("+", SCHEME.length);
  if (end === -1 || uri.slice(0, SCHEME.length).toLowerCase() !== SCHEME) return undefined;
  return { server: uri.slice(SCHEME.length, end).toLowerCase(), uri: uri.slice(end + 1) };
}

/** Returns content whose addresses clients can read at /mcp. */
export function withOfferedUris(block: Block, server: string): Block {
  switch (block.type) {
    case "resource_link":
      return { ...block, uri: offeredUri(block.uri, server) };
    case "resource":
      return { ...block, resource: { ...block.resource, uri: offeredUri(block.resource.uri, server) } };
    default:
      return block;
  }
}
