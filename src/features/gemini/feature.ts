import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { BodyContent } from "../files/index.ts";
import { keyOfQuery } from "./key-of-query.ts";
import { geminiMethods, geminiModels } from "./routes.ts";

interface GeminiParts {
  config: Settings;
  inference: Inference;
  content: BodyContent;
}

/** Google's Gemini API. */
export function geminiFeature({ config, inference, content }: GeminiParts): Feature {
  const methods = geminiMethods(inference, config.server.unknownFields, content);
  // Clients use either version; `GET /v1/models` knows Google's by their headers.
  return {
    addHooks: keyOfQuery,
    project: [methods],
    projectAt: [{ prefix: "/v1beta", routes: [geminiModels(inference), methods] }],
  };
}
