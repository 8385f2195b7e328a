import { extname } from "node:path";

/** Address of a module beside another, by its name without ending: `.ts` in the sources, `.js` in the built package. */
export function siblingModule(importMetaUrl: string, name: string): URL {
  return new URL(`${name}${extname(new URL(importMetaUrl).pathname)}`, importMetaUrl);
}
