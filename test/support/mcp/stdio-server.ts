/** An MCP server over standard input and output. */

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

serveStdio(() => {
  const server = new McpServer({ name: "stdio", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.registerTool("greet", {}, () => {
    const key = Object.keys(process.env).some((name) => name.startsWith("PARLANCE")) ? "with" : "without";
    return { content: [{ type: "text", text: `${process.env.GREETING} ${key} a key` }] };
  });
  server.registerTool("exit", {}, () => process.exit(1));
  return server;
});
