import type { Feature } from "../../http/feature.ts";
import type { Logger } from "../../kernel/logger.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { WEB_SEARCH_TYPES } from "../../wire/responses/web-search.ts";
import type { ServiceTools } from "../tools/index.ts";
import { SearchEngine } from "./search-engine.ts";
import { webSearchTool } from "./web-search-tool.ts";

interface WebSearchParts {
  config: Settings;
  lifetime: AsyncDisposableStack;
  logger: Logger;
  tools: ServiceTools;
}

/** The tool `web_search`, if a search engine is configured. */
export function webSearchFeature({ config, lifetime, logger, tools }: WebSearchParts): Feature {
  const settings = config.webSearch;
  if (settings === undefined) return {};
  const engine = new SearchEngine(settings);
  lifetime.use(engine);
  const { pricePerCall, timeoutSeconds } = settings;
  for (const type of WEB_SEARCH_TYPES)
    tools.register(webSearchTool(type, { engine, logger, pricePerCall, timeoutSeconds }));
  return {};
}
