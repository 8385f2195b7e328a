import type { ImageRequest } from "../../../src/contracts/image-model.ts";

/** A request with default options. */
export function makeImageRequest(asked: Partial<ImageRequest> = {}): ImageRequest {
  return {
    model: "test-model",
    operation: "generation",
    prompt: "a heron",
    images: [],
    mask: undefined,
    count: 1,
    size: undefined,
    format: undefined,
    compression: undefined,
    options: {},
    partialImages: 0,
    stream: false,
    ...asked,
  };
}
