/**
 * Azure OpenAI: addresses and credentials as in openai 7.55.0, src/azure.ts, and answers with `content_filter_results`
 * (https://learn.microsoft.com/azure/ai-foundry/openai/concepts/content-filter).
 */

import { checkLength, chunkStream, ENVELOPE, toChatUsage, toChunk, toSse } from "./chat-completion-chunks.ts";
import { RequestProblem, type WireFormat } from "./stand-in.ts";

const PATH = /^\/openai\/(?:v1|deployments\/[\w.-]+)\/(?:chat\/completions|embeddings)(?:\?api-version=[\w-]+)?$/;

export const azureFormat: WireFormat = {
  ...chunkStream,
  read({ path, body, headers }) {
    if (!PATH.test(path)) throw new RequestProblem(`there is no ${path}`);
    if (headers["api-key"] === undefined && headers.authorization === undefined) {
      throw new RequestProblem("Access denied due to missing subscription key");
    }
    const {
      messages = [],
      max_tokens,
      stop,
    } = body as {
      messages?: { content: unknown }[];
      max_tokens?: number;
      stop?: string | string[];
    };
    const say = JSON.stringify(messages.at(-1)?.content ?? "");
    checkLength(say);
    return { say, maxTokens: max_tokens, stop: typeof stop === "string" ? [stop] : (stop ?? []) };
  },
  end: (reason, _stopText, usage) =>
    toSse([toChunk({}, reason), { ...ENVELOPE, choices: [], usage: toChatUsage(usage) }]),
  error: (status, message) => ({
    error: { code: String(status), message, type: "invalid_request_error", param: null },
  }),
};
