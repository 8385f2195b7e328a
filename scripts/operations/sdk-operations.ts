import { readdirSync, readFileSync } from "node:fs";
import { resolve } from "node:path";

/** A call of the SDK's HTTP client, whose path is a text or a template, with its options. */
const CALL = /_client\s*\.(get|post|put|patch|delete|getAPIList)\(\s*(?:path)?\s*[`'"]([^`'"]+)[`'"]([^;]*)/g;
/** Lists that are read with a body. */
const POSTED_LIST = /\bmethod: 'post'/;
/** The deprecated Assistants API. */
const ASSISTANTS = /^\/(assistants|threads)\b/;

export interface SdkOperations {
  /** Version of the package. */
  version: string;
  /** "METHOD /path", sorted. */
  operations: readonly string[];
}

/** Reads which requests the methods of an `openai` package send, from the source of its resources. */
export function readSdk(folder: string): SdkOperations {
  const { version } = JSON.parse(readFileSync(resolve(folder, "package.json"), "utf8")) as { version: string };
  const operations = new Map<string, string>();
  const resources = resolve(folder, "resources");
  for (const file of readdirSync(resources, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".mjs")) continue;
    for (const [, method = "", path = "", options = ""] of readFileSync(resolve(resources, file), "utf8").matchAll(
      CALL,
    )) {
      const address = path.replaceAll(/\$\{(\w+)\}/g, "{$1}").replace(/\?.*$/, "");
      const listMethod = POSTED_LIST.test(options) ? "POST" : "GET";
      const name = `${method === "getAPIList" ? listMethod : method.toUpperCase()} ${address}`;
      if (!ASSISTANTS.test(address)) operations.set(name.replaceAll(/\{\w+\}/g, "{}"), name);
    }
  }
  return { version, operations: [...operations.values()].sort() };
}
