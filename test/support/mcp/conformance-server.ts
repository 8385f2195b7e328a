/** The tools that the conformance suite of the Model Context Protocol calls, over standard input and output. */

import { setTimeout as pause } from "node:timers/promises";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const image = { type: "image" as const, data: PIXEL, mimeType: "image/png" };
const resource = {
  type: "resource" as const,
  resource: { uri: "test://embedded", mimeType: "text/plain", text: "This is an embedded resource content." },
};
const text = (value: string) => ({ type: "text" as const, text: value });

serveStdio(() => {
  const server = new McpServer({ name: "conformance", version: "1.0.0" }, { capabilities: { tools: {} } });
  const add = (name: string, content: () => object[]) =>
    server.registerTool(name, { description: `Returns ${name}` }, () => ({ content: content() as never }));
  add("test_simple_text", () => [text("This is a simple text response for testing.")]);
  add("test_image_content", () => [image]);
  add("test_audio_content", () => [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }]);
  add("test_embedded_resource", () => [resource]);
  add("test_multiple_content_types", () => [text("Multiple content types test:"), image, resource]);
  server.registerTool("test_error_handling", { description: "Fails" }, () => ({
    isError: true,
    content: [text("This tool intentionally returns an error for testing")],
  }));
  server.registerTool("test_tool_with_progress", { description: "Reports progress" }, async ({ mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken === undefined) break;
      await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      // The SDK's client drops progress that arrives together with the result.
      await pause(50);
    }
    return { content: [text("Done.")] };
  });
  return server;
});
