import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { rerank } from "./routes.ts";

/** Reranking in the format of Jina. */
export function rerankFeature({ config, inference }: { config: Settings; inference: Inference }): Feature {
  return { project: [rerank(inference, config.server.unknownFields, { returnsDocuments: true })] };
}
