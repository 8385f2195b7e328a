import type { Feature } from "../../http/feature.ts";
import type { Inference } from "../../inference/inference.ts";
import type { Settings } from "../../kernel/settings/settings.ts";
import type { FileStorage } from "../files/index.ts";
import type { ServiceTools } from "../tools/index.ts";
import { imageGenerationTool } from "./image-generation-tool.ts";
import { images } from "./routes.ts";

interface ImagesParts {
  config: Settings;
  inference: Inference;
  files: FileStorage;
  tools: ServiceTools;
}

/** Generation, edits and variations of images, and the tool `image_generation`. */
export function imageFeature({ config, inference, files, tools }: ImagesParts): Feature {
  const { maxUploadBytes, unknownFields } = config.server;
  const uploads = { directory: files.directory, maxBytes: maxUploadBytes };
  tools.register(imageGenerationTool({ inference, limits: config.images }));
  return { project: [images(inference, { uploads, resolver: files.resolver, limits: config.images, unknownFields })] };
}
