import type { Feature } from "../../http/feature.ts";
import { TOOL_SEARCH } from "../../wire/responses/tool-search.ts";
import type { ServiceTools } from "../tools/index.ts";
import { toolSearchType } from "./tool-search-type.ts";

/** The tool `tool_search` of responses, and the two of Messages: they load deferred tools, for every model. */
export function toolSearchFeature({ tools }: { tools: ServiceTools }): Feature {
  tools.register(toolSearchType(TOOL_SEARCH, "query"));
  tools.register(toolSearchType("tool_search_tool_bm25", "query"));
  tools.register(toolSearchType("tool_search_tool_regex", "pattern"));
  return {};
}
