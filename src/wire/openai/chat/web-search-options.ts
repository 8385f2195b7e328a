/** `web_search_options` of a chat, for which this service searches. */

import { z } from "zod";
import type { ChatCall } from "../../../contracts/chat-call.ts";
import type { Tool } from "../../../contracts/chat-model.ts";
import { unsupportedValue } from "../../../kernel/faults.ts";
import { lazy } from "../../../kernel/lazy.ts";
import type { SentTool } from "../../responses/responses-tools.ts";
import { optional } from "../optional.ts";
import { parse } from "../validate.ts";

const place = optional(z.string().min(1).max(200));

export const WebSearchOptions = lazy.strictObject(() => ({
  search_context_size: optional(z.enum(["low", "medium", "high"])),
  user_location: optional(
    z.strictObject({
      type: z.literal("approximate"),
      approximate: z.strictObject({ country: place, region: place, city: place, timezone: place }),
    }),
  ),
}));

const Options = lazy.object(() => ({ web_search_options: WebSearchOptions }));

/** Names of models that search for each answer, such as gpt-5-search-api and perplexity/sonar-pro. */
const SEARCHING_MODEL = /(?:^|[/-])(?:search|sonar)(?:-|$)/;

/** Whether a model of another service searches by itself, by its name. */
export function searchesByItself(model: string): boolean {
  return SEARCHING_MODEL.test(model);
}

interface SearchingBody {
  web_search_options?: unknown;
  n?: number | undefined;
}

/** Renders the options as the tool of a Responses request. Throws a Fault that names the first invalid field. */
export function toSearchTool({ web_search_options: options, n }: SearchingBody): SentTool {
  const { web_search_options: sent } = parse(Options, { web_search_options: options });
  if (n !== undefined && n > 1) {
    throw unsupportedValue("An answer with 'web_search_options' has one choice: leave 'n' out.", "n");
  }
  const { search_context_size: size, user_location: location } = sent;
  return {
    type: "web_search",
    ...(size !== undefined && { search_context_size: size }),
    ...(location !== undefined && { user_location: { type: "approximate", ...location.approximate } }),
  };
}

/** Adds the search, which the model has to call first unless the caller names a tool of its own. */
export function withSearch(call: ChatCall, search: Tool): ChatCall {
  const { request, withDefaults } = call;
  const { tools, toolChoice } = request;
  const isOpen = toolChoice === "auto" || toolChoice === "none";
  const searching = {
    ...request,
    // What the caller does not want called stays out, for later turns may call what they see.
    tools: [...(toolChoice === "none" ? [] : tools), search],
    toolChoice: isOpen ? { name: search.name } : toolChoice,
  };
  return {
    ...call,
    request: searching,
    ...(withDefaults && { withDefaults: (defaults) => withSearch(withDefaults(defaults), search) }),
  };
}
