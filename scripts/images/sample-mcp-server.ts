/** MCP servers of the pictures: `node sample-mcp-server.ts wiki`. Nothing that they return is real. */

import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import { z } from "zod";

const READS = { readOnlyHint: true };
const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });

const SERVERS: Readonly<Record<string, (server: McpServer) => void>> = {
  wiki: (server) => {
    const query = z.string().describe("Words or a question.");
    const limit = z.int().min(1).max(50).default(10).describe("Maximum number of pages.");
    const space = z.enum(["engineering", "support", "people"]).optional().describe("Part of the wiki.");
    server.registerTool(
      "search_pages",
      { description: "Finds pages of the wiki.", inputSchema: z.object({ query, limit, space }), annotations: READS },
      () => text(JSON.stringify({ pages: [{ title: "Refunds", space: "support", updated: "2026-11-02" }] })),
    );
    server.registerTool(
      "read_page",
      { description: "Returns a page as Markdown.", inputSchema: z.object({ title: z.string() }), annotations: READS },
      ({ title }) => text(`# ${title}\n\nWithin thirty days, to the card that paid.`),
    );
    server.registerTool(
      "delete_page",
      {
        description: "Deletes a page and its history.",
        inputSchema: z.object({ title: z.string() }),
        annotations: { destructiveHint: true },
      },
      () => ({ ...text("Pages of this space are locked."), isError: true }),
    );
  },
  tickets: (server) => {
    const priority = z.enum(["low", "normal", "high"]).default("normal");
    server.registerTool(
      "list_tickets",
      { description: "Lists open tickets.", inputSchema: z.object({ priority }), annotations: READS },
      () => text("3 open tickets"),
    );
    server.registerTool(
      "create_ticket",
      { description: "Opens a ticket.", inputSchema: z.object({ title: z.string(), priority }) },
      () => text("TICKET-1042"),
    );
  },
};

const [name = ""] = process.argv.slice(2);
serveStdio(() => {
  const server = new McpServer({ name, version: "2.4.0" }, { capabilities: { tools: {} } });
  SERVERS[name]?.(server);
  return server;
});
