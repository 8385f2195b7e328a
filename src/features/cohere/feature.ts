import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { BodyContent } from "../files/index.ts";
import { rerank } from "../rerank/index.ts";
import { cohere } from "./routes.ts";

interface CohereParts {
  config: Settings;
  inference: Inference;
  content: BodyContent;
}

/** Cohere's API, version 2: chat, embed and rerank. */
export function cohereFeature({ config, inference, content }: CohereParts): Feature {
  const { unknownFields } = config.server;
  const ranks = rerank(inference, unknownFields, { returnsDocuments: false });
  return { projectAt: [{ prefix: "/v2", routes: [ranks, cohere(inference, unknownFields, content)] }] };
}
