import type { AuthenticateScope } from "../../http/authenticate.ts";
import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import { rerank } from "./routes.ts";

interface RerankParts {
  config: Settings;
  inference: Inference;
  authenticate: AuthenticateScope;
}

/** Reranking in the formats of Jina (/v1) and Cohere (/v2). */
export function rerankFeature({ config, inference, authenticate }: RerankParts): Feature {
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
