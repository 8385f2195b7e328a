import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { BodyContent } from "../files/index.ts";
import { decisions } from "./routes.ts";

interface DecisionParts {
  config: Settings;
  inference: Inference;
  content: BodyContent;
}

/** Typed questions about an input, which chat models answer with probabilities. */
export function decisionFeature({ config, inference, content }: DecisionParts): Feature {
  return { project: [decisions(inference, config.server.unknownFields, content)] };
}
