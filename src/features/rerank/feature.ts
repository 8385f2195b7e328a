import type { Feature, RouteParts } from "../feature.ts";
import { rerank } from "./routes.ts";

/** Reranking in the formats of Jina (/v1) and Cohere (/v2). */
export function rerankFeature({ config, inference, authenticate }: RouteParts): Feature {
  const { unknownFields } = config.server;
  return {
    project: [rerank(inference, unknownFields, { returnsDocuments: true })],
    public: [
      async (app) => {
        app.register(
          async (scope) => {
            authenticate(scope, "project");
            scope.register(rerank(inference, unknownFields, { returnsDocuments: false }));
          },
          { prefix: "/v2" },
        );
      },
    ],
  };
}
