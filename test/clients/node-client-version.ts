import { readFileSync } from "node:fs";

/** Installed versions of the packages in a title such as `ai with @ai-sdk/openai` or `openai (Node)`. */
export function nodeClientVersion(title: string): string {
  const packages = title.replace(" (Node)", "").split(" with ");
  return packages.map(installedVersion).join(" with ");
}

function installedVersion(name: string): string {
  const manifest = new URL(`../../node_modules/${name}/package.json`, import.meta.url);
  return (JSON.parse(readFileSync(manifest, "utf8")) as { version: string }).version;
}
