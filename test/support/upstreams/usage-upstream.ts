import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface UsageUpstream extends AsyncDisposable {
  baseUrl: string;
  /** Changes what the next answers contain. */
  answer(answer: UsageAnswer): void;
}

interface UsageAnswer {
  /** The `usage` object, in the dialect of a provider. */
  usage: object;
  /** Further fields of the answer, such as `service_tier`. */
  fields?: object;
  headers?: Readonly<Record<string, string>>;
  /** Names of functions that the answer calls. */
  calls?: readonly string[];
}

/** Starts an upstream that answers each chat with the same text and the usage that the test sets. */
export async function startUsageUpstream(): Promise<UsageUpstream> {
  let next: UsageAnswer = { usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } };
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { stream } = JSON.parse(Buffer.concat(chunks).toString() || "{}") as { stream?: boolean };
    const { usage, fields, headers = {}, calls = [] } = next;
    const common = { id: "chatcmpl-1", created: 1, model: "upstream", ...fields };
    const toolCalls = calls.map((name, index) => ({
      ...{ index, id: `call_${index}`, type: "function" },
      function: { name, arguments: "{}" },
    }));
    const message = { role: "assistant", content: "Hi", ...(calls.length > 0 && { tool_calls: toolCalls }) };
    const end = calls.length > 0 ? "tool_calls" : "stop";
    if (stream === true) {
      const chunk = (choices: object[], rest: object = {}) =>
        `data: ${JSON.stringify({ ...common, object: "chat.completion.chunk", choices, ...rest })}\n\n`;
      response.writeHead(200, { "content-type": "text/event-stream", ...headers });
      response.end(
        chunk([{ index: 0, delta: message, finish_reason: null }]) +
          chunk([{ index: 0, delta: {}, finish_reason: end }]) +
          chunk([], { usage }) +
          "data: [DONE]\n\n",
      );
      return;
    }
    response.writeHead(200, { "content-type": "application/json", ...headers });
    const choices = [{ index: 0, message, finish_reason: end }];
    response.end(JSON.stringify({ ...common, object: "chat.completion", choices, usage }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    answer: (answer) => {
      next = answer;
    },
    [Symbol.asyncDispose]: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
