/** What the conformance suite of the Model Context Protocol expects of a server. */

import { setTimeout as pause } from "node:timers/promises";
import {
  completable,
  type InputRequiredResult,
  inputRequired,
  McpServer,
  ResourceTemplate,
  type ServerContext,
} from "@modelcontextprotocol/server";
import { z } from "zod";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const image = { type: "image" as const, data: PIXEL, mimeType: "image/png" };
const resource = {
  type: "resource" as const,
  resource: { uri: "test://embedded", mimeType: "text/plain", text: "This is an embedded resource content." },
};
const text = (value: string) => ({ type: "text" as const, text: value });

type Question = NonNullable<InputRequiredResult["inputRequests"]>[string];

const TITLED = ["value1", "value2", "value3"].map((value) => ({ const: value, title: `Title of ${value}` }));
const OPTIONS = ["option1", "option2", "option3"];
const DEFAULTS = {
  name: { type: "string", default: "John Doe" },
  age: { type: "integer", default: 30 },
  score: { type: "number", default: 95.5 },
  status: { type: "string", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", default: true },
};
const ENUMS = {
  untitledSingle: { type: "string", enum: OPTIONS },
  titledSingle: { type: "string", oneOf: TITLED },
  legacyEnum: { type: "string", enum: ["opt1", "opt2", "opt3"], enumNames: ["One", "Two", "Three"] },
  untitledMulti: { type: "array", items: { type: "string", enum: OPTIONS } },
  titledMulti: { type: "array", items: { anyOf: TITLED } },
};
const NAMES = { username: { type: "string" }, email: { type: "string" } };

export function conformanceServer(): McpServer {
  const capabilities = { tools: {}, logging: {} };
  const server = new McpServer({ name: "conformance", version: "1.0.0" }, { capabilities });
  addTools(server);
  addQuestions(server);
  addPrompts(server);
  addResources(server);
  return server;
}

function addTools(server: McpServer): void {
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
  server.registerTool("test_tool_with_logging", { description: "Logs" }, async ({ mcpReq }) => {
    for (const message of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
      await mcpReq.log("info", message);
      await pause(50);
    }
    return { content: [text("Done.")] };
  });
  const address = z.object({ street: z.string().optional(), city: z.string().optional() }).meta({ id: "address" });
  const inputSchema = z.strictObject({ name: z.string().optional(), address: address.optional() });
  server.registerTool("json_schema_2020_12_tool", { description: "Has a schema", inputSchema }, () => ({
    content: [text("Done.")],
  }));
}

function addQuestions(server: McpServer): void {
  /** Asks once and returns the answer as text. */
  const ask = (question: Question, { mcpReq }: ServerContext) => {
    const answer = mcpReq.inputResponses?.answer;
    if (answer === undefined) return inputRequired({ inputRequests: { answer: question } });
    return { content: [text(`Answer: ${JSON.stringify(answer)}`)] };
  };
  const elicit = (message: string, properties: object) =>
    inputRequired.elicit({ message, requestedSchema: { type: "object", properties } as never });
  const message = z.object({ message: z.string() });
  server.registerTool("test_elicitation", { description: "Asks the user", inputSchema: message }, (input, context) =>
    ask(elicit(input.message, NAMES), context),
  );
  server.registerTool("test_elicitation_sep1034_defaults", { description: "Has defaults" }, (context) =>
    ask(elicit("Check", DEFAULTS), context),
  );
  server.registerTool("test_elicitation_sep1330_enums", { description: "Has choices" }, (context) =>
    ask(elicit("Choose", ENUMS), context),
  );
  const prompt = z.object({ prompt: z.string() });
  server.registerTool("test_sampling", { description: "Asks the model", inputSchema: prompt }, (input, context) => {
    const messages = [{ role: "user" as const, content: text(input.prompt) }];
    return ask(inputRequired.createMessage({ messages, maxTokens: 100 }), context);
  });
}

function addPrompts(server: McpServer): void {
  const say = (...contents: object[]) => ({
    messages: contents.map((content) => ({ role: "user" as const, content: content as never })),
  });
  server.registerPrompt("test_simple_prompt", { description: "Says one thing" }, () =>
    say(text("This is a simple prompt for testing.")),
  );
  const argsSchema = z.object({ arg1: completable(z.string(), () => ["paris", "park", "party"]), arg2: z.string() });
  server.registerPrompt("test_prompt_with_arguments", { description: "Has arguments", argsSchema }, ({ arg1, arg2 }) =>
    say(text(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "Has a resource", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri: uri }) =>
      say(
        { type: "resource", resource: { uri, mimeType: "text/plain", text: "Embedded resource content for testing." } },
        text("Please process the embedded resource above."),
      ),
  );
  server.registerPrompt("test_prompt_with_image", { description: "Has an image" }, () =>
    say(image, text("Please analyze the image above.")),
  );
}

function addResources(server: McpServer): void {
  const add = (uri: string, mimeType: string, content: { text: string } | { blob: string }) =>
    server.registerResource(uri, uri, { mimeType, description: `The resource ${uri}` }, ({ href }) => ({
      contents: [{ uri: href, mimeType, ...content }],
    }));
  add("test://static-text", "text/plain", { text: "This is the content of the static text resource." });
  add("test://static-binary", "image/png", { blob: PIXEL });
  add("test://watched-resource", "text/plain", { text: "Watched." });
  const mimeType = "application/json";
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { mimeType, description: "Data of an ID" },
    ({ href }, { id }) => ({
      contents: [{ uri: href, mimeType, text: JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }) }],
    }),
  );
}
