import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { embeddings } from "./routes.ts";

export function embeddingFeature({ config, inference }: { config: Settings; inference: Inference }): Feature {
  return { project: [embeddings(inference, config.server.unknownFields)] };
}
