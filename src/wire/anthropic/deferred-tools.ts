/** `defer_loading` in a Messages request: tools that the model sees once a result refers to them. */

import type { MessagesPrompt } from "./messages-body.ts";
import { MCP_TOOLSET } from "./messages-mcp.ts";
import { isServerResult, referencesIn } from "./messages-server-tools.ts";

type Fields = Readonly<Record<string, unknown>>;
type Prompt = Pick<MessagesPrompt, "messages" | "tools">;

/** Returns the names that results of the conversation refer to, of a search of the service or of the client's own. */
export function referencedTools({ messages }: Prompt): ReadonlySet<string> {
  const blocks = messages.flatMap(({ content }) => (typeof content === "string" ? [] : content));
  const results = blocks.filter((block) => block.type === "tool_result" || isServerResult(block));
  return new Set(results.flatMap(({ content }) => referencesIn(content)));
}

/** Returns the tools that are deferred; none where all are, so that nothing could refer to them. */
export function deferredTools({ tools = [] }: Prompt): readonly Fields[] {
  const deferred = tools.filter(({ defer_loading: isDeferred }) => isDeferred === true);
  return deferred.length === tools.length ? [] : deferred;
}

/** Returns whether a toolset defers a tool of its server. */
export function deferredInToolsets({ tools = [] }: Prompt): (server: string, tool: string) => boolean {
  const toolsets = new Map<unknown, Fields>();
  for (const tool of tools) if (tool.type === MCP_TOOLSET) toolsets.set(tool.mcp_server_name, tool);
  return (server, tool) => {
    const { configs, default_config: byDefault } = toolsets.get(server) ?? {};
    const config = Object.entries((configs ?? {}) as Record<string, Fields>).find(([name]) => name === tool)?.[1];
    return (config?.defer_loading ?? (byDefault as Fields | undefined)?.defer_loading) === true;
  };
}
