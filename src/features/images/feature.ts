import type { Feature, ServiceParts } from "../feature.ts";
import { images } from "./routes.ts";

/** Generation, edits and variations of images. */
export function imageFeature({ config, inference, files }: ServiceParts): Feature {
  const { maxUploadBytes, unknownFields } = config.server;
  const uploads = { directory: files.directory, maxBytes: maxUploadBytes };
  return { project: [images(inference, { uploads, limits: config.images, unknownFields })] };
}
