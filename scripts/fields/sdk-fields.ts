/** Reads the fields of requests from the types of the official SDKs, which are generated from their documents. */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";

const PACKAGES = resolve(import.meta.dirname, "../../node_modules");

export interface SdkField {
  name: string;
  /** As the types have it. */
  type: string;
}

/** Returns the members of an interface. Throws when the file has none of this name. */
export function fieldsOfInterface(file: string, name: string): SdkField[] {
  const text = readFileSync(resolve(PACKAGES, file), "utf8").replaceAll(/\/\*\*[\s\S]*?\*\/|\r/g, "");
  const start = new RegExp(`^ *export (?:declare )?interface ${name}\\b[^\\n]*\\{$`, "m").exec(text);
  if (start === null) throw new Error(`${file} has no interface ${name}`);
  const fields: SdkField[] = [];
  let depth = 0;
  for (const line of text.slice(start.index + start[0].length).split("\n")) {
    const member = depth === 0 ? /^\s*'?(\w+)'?\??: (.*)$/.exec(line) : null;
    if (member !== null) fields.push({ name: member[1] ?? "", type: (member[2] ?? "").replace(/;$/, "") });
    depth += count(line, "{") - count(line, "}");
    if (depth < 0) return fields;
  }
  throw new Error(`the interface ${name} of ${file} does not end`);
}

function count(line: string, bracket: string): number {
  return line.split(bracket).length - 1;
}
