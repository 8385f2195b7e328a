/** Operations that an installed SDK has, read from its generated files. */

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export interface SdkOperation {
  method: string;
  /** Matches the path of a request. */
  path: RegExp;
  /** Type of the SDK's method, as TypeScript reads it. */
  type: string;
}

const CLASS = /^\s*class (\w+) extends \S*APIResource/;
const METHOD = /^(?: {4}| {8})(?:async )?(?!if|for|while|switch|catch)(\w+)\(.*\{$/;
const CALL = /this\._client\.(get|post|put|patch|delete|getAPIList)\(\s*(?:\(0, path_1\.path\) )?[`'"]([^`'"?]+)[`'"?]/;

/** Reads the methods of an SDK that send a request. `prefix` stands before its paths. */
export function sdkOperations(packageName: "openai" | "@anthropic-ai/sdk", prefix: string): SdkOperation[] {
  const root = fileURLToPath(new URL(`../../../node_modules/${packageName}/resources`, import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".js") && !file.startsWith("beta"))
    .flatMap((file) => operationsOf(join(root, file), prefix));
}

function operationsOf(file: string, prefix: string): SdkOperation[] {
  const operations: SdkOperation[] = [];
  let resource = "";
  let name = "";
  for (const line of readFileSync(file, "utf8").split("\n")) {
    resource = CLASS.exec(line)?.[1] ?? resource;
    name = METHOD.exec(line)?.[1] ?? name;
    const [, method, path] = CALL.exec(line) ?? [];
    if (method === undefined || path === undefined) continue;
    const pattern = `^${prefix}${path.replaceAll(/\$\{\w+\}/g, "[^/]+")}$`;
    const type = `import(${JSON.stringify(file)}).${resource}[${JSON.stringify(name)}]`;
    operations.push({
      method: method === "getAPIList" ? "GET" : method.toUpperCase(),
      path: new RegExp(pattern),
      type,
    });
  }
  return operations;
}
