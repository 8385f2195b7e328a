import type { Feature, ServiceParts } from "../feature.ts";
import { imageGenerationTool } from "./image-generation-tool.ts";
import { images } from "./routes.ts";

/** Generation, edits and variations of images, and the tool `image_generation`. */
export function imageFeature({ config, inference, files, tools }: ServiceParts): Feature {
  const { maxUploadBytes, unknownFields } = config.server;
  const uploads = { directory: files.directory, maxBytes: maxUploadBytes };
  tools.register(imageGenerationTool({ inference, limits: config.images }));
  return { project: [images(inference, { uploads, limits: config.images, unknownFields })] };
}
