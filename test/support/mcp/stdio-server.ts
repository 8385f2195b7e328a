/** An MCP server over standard input and output. */

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

serveStdio(() => {
  const server = new McpServer({ name: "stdio", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.registerTool("greet", { description: "Greets" }, () => {
    const key = Object.keys(process.env).some((name) => name.startsWith("PARLANCE")) ? "with" : "without";
    return { content: [{ type: "text", text: `${process.env.GREETING} ${key} a key` }] };
  });
  server.registerTool("exit", { description: "Ends the process" }, () => process.exit(1));
  server.registerTool("count", { description: "Counts to three" }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    // The client reads the steps and the result at once.
    process.stdout.cork();
    setImmediate(() => process.stdout.uncork());
    const notify = (progress: number) =>
      mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress } });
    for (const step of [1, 2, 3]) void notify(step);
    return { content: [{ type: "text", text: "3" }] };
  });
  const city = { inputSchema: z.object({ city: z.string() }) };
  server.registerTool("get_weather", { description: "Returns the weather of a city", ...city }, ({ city: name }) => ({
    content: [{ type: "text", text: `18 degrees in ${name}` }],
  }));
  return server;
});
