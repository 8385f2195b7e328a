import type { Feature, RouteParts } from "../feature.ts";
import { embeddings } from "./routes.ts";

export function embeddingFeature({ config, inference }: RouteParts): Feature {
  return { project: [embeddings(inference, config.server.unknownFields)] };
}
