import { WEB_SEARCH_TYPES } from "../../wire/responses/web-search.ts";
import type { Feature, ServiceParts } from "../feature.ts";
import { SearchEngine } from "./search-engine.ts";
import { webSearchTool } from "./web-search-tool.ts";

/** The tool `web_search`, if a search engine is configured. */
export function webSearchFeature({ config, lifetime, logger, tools }: ServiceParts): Feature {
  const settings = config.webSearch;
  if (settings === undefined) return {};
  const engine = new SearchEngine(settings);
  lifetime.use(engine);
  const { pricePerCall, timeoutSeconds } = settings;
  for (const type of WEB_SEARCH_TYPES)
    tools.register(webSearchTool(type, { engine, logger, pricePerCall, timeoutSeconds }));
  return {};
}
