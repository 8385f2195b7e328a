/** Toolsets: named selections over several servers, each behind an address below /mcp. */

import type { Caller } from "../../contracts/caller.ts";
import { invalidRequest } from "../../kernel/faults.ts";
import type { McpServer, McpServers } from "./mcp-servers.ts";
import { accessOf } from "./server-access.ts";
import type { McpServerSettings, McpToolsetSettings } from "./settings.ts";

/** A toolset that a caller may use. */
export interface McpToolset {
  description: string | undefined;
  /** Servers with what the toolset selects of them, as far as the caller may use it. */
  servers: readonly McpServer[];
}

export class McpToolsets {
  readonly #servers: McpServers;
  #toolsets: readonly McpToolsetSettings[];

  constructor(servers: McpServers, toolsets: readonly McpToolsetSettings[]) {
    this.#servers = servers;
    this.#toolsets = toolsets;
  }

  /** Takes the toolsets of a changed configuration. */
  apply(toolsets: readonly McpToolsetSettings[]): void {
    this.#toolsets = toolsets;
  }

  /** Undefined where the caller's project may use neither the toolset nor, of each of its servers, anything. */
  find(name: string, caller: Caller): McpToolset | undefined {
    const toolset = this.#toolsets.find((each) => each.name === name);
    if (toolset?.projects?.includes(caller.projectId ?? "") === false) return undefined;
    const servers = toolset?.servers.flatMap((selection) => {
      const server = this.#servers.find(selection.server, caller);
      return server === undefined ? [] : [narrowed(server, selection)];
    });
    if (toolset === undefined || servers === undefined || servers.length === 0) return undefined;
    return { description: toolset.description, servers };
  }
}

function narrowed(server: McpServer, selection: McpToolsetSettings["servers"][number]): McpServer {
  const selected = accessOf([selection]);
  return {
    ...server,
    allowsTool: (name) => selected.allowsTool(name) && server.allowsTool(name),
    allowsPrompt: (name) => selected.allowsPrompt(name) && server.allowsPrompt(name),
    allowsResource: (uri) => selected.allowsResource(uri) && server.allowsResource(uri),
  };
}

/** Throws a Fault for a toolset with the name of a server, or with a server that does not exist. */
export function checkToolsets(toolsets: readonly McpToolsetSettings[], servers: readonly McpServerSettings[]): void {
  for (const { name, servers: selections } of toolsets) {
    if (servers.some((server) => server.name.toLowerCase() === name.toLowerCase())) {
      throw invalidRequest(
        `mcp_toolsets: '${name}' is the name of a server in mcp_servers, which has the same address.`,
      );
    }
    const missing = selections.find((selection) => !servers.some((server) => server.name === selection.server));
    if (missing === undefined) continue;
    throw invalidRequest(`mcp_toolsets: '${name}' has '${missing.server}', which is no server of mcp_servers.`);
  }
}
