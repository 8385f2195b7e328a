/** How many of 100 tasks find their tool among 200, and the prompt tokens of a local model with and without a search. */

import type OpenAI from "openai";
import type { Tool } from "../../src/contracts/chat-model.ts";
import { searchTools } from "../../src/features/tool-search/search-tools.ts";
import type { DeferredTool } from "../../src/features/tools/deferred-tools.ts";
import { startServiceProcess } from "../../test/support/service/service-process.ts";
import tasks from "./tasks.json" with { type: "json" };
import services from "./tools.json" with { type: "json" };

const MODEL = "smollm2-135m-instruct";
const QUERY = { type: "string", description: "Words for what the tool should do" };

type Sent = OpenAI.Responses.FunctionTool & Record<string, unknown>;

const tools = Object.entries(services).flatMap(([namespace, members]) =>
  Object.entries(members).map(([name, description]): DeferredTool => {
    const definition: Tool = { name: `${namespace}__${name}`, description, parameters: undefined, param: "tools" };
    return { name, namespace, definition, sent: toSent(definition) };
  }),
);

/** Gives a function the parameters of a usual tool. */
function toSent({ name, description = "" }: Pick<Tool, "name" | "description">): Sent {
  const properties = {
    id: { type: "string", description: "Identifier of the object" },
    text: { type: "string", description: "Content" },
    limit: { type: "integer", description: "Maximum number of results" },
  };
  const parameters = { type: "object", properties, required: ["id"], additionalProperties: false };
  return { type: "function", name, description, parameters, strict: false };
}

const nameOf = ({ namespace, name }: DeferredTool) => `${namespace}.${name}`;
const { signal } = new AbortController();
const results = await Promise.all(
  Object.entries(tasks).map(async ([expected, text]) => {
    return { expected, tools: await searchTools(tools, { way: "query", text, max: 5, project: "" }, signal) };
  }),
);
for (const max of [1, 3, 5]) {
  const hits = results.filter((result) => result.tools.slice(0, max).some((tool) => nameOf(tool) === result.expected));
  console.log(`recall@${max}: ${hits.length} of ${results.length}`);
}
for (const { expected, tools: loaded } of results) {
  if (!loaded.some((tool) => nameOf(tool) === expected)) console.log(`  missed ${expected}: ${loaded.map(nameOf)}`);
}
const loaded = results.reduce((sum, result) => sum + result.tools.length, 0) / results.length;
console.log(`tools loaded by a search: ${loaded}`);

const service = await startServiceProcess({ config: "" });
const client = service.client({});
const count = async (shown: readonly Sent[]) => {
  const input = "Publish release 2.0 with notes";
  return (await client.responses.inputTokens.count({ model: MODEL, input, tools: [...shown] })).input_tokens;
};
const search = {
  ...toSent({
    name: "tool_search",
    description:
      "Searches 200 more tools and makes those that match available. Use it before saying that no tool does what is needed.",
  }),
};
search.parameters = { type: "object", properties: { query: QUERY }, required: ["query"], additionalProperties: false };
const few = tools.slice(0, Math.round(loaded)).map(({ sent }) => sent as unknown as Sent);
console.log(`prompt tokens with all tools: ${await count(tools.map(({ sent }) => sent as unknown as Sent))}`);
console.log(`before a search: ${await count([search])}; after it: ${await count([search, ...few])}`);
await service.stop();
