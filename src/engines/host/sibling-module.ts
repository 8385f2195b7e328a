import { extname } from "node:path";

/** URL of a module in the same folder, by its name without extension: `.ts` in sources, `.js` in the built package. */
export function siblingModule(importMetaUrl: string, name: string): URL {
  return new URL(`${name}${extname(new URL(importMetaUrl).pathname)}`, importMetaUrl);
}
