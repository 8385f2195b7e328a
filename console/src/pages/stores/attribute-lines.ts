import { t } from "../../i18n/translate.ts";
import type { Attributes } from "./stores-api.ts";

/** Renders attributes as lines such as `year: 2026`. A text that would be read as something else has quotes. */
export function writeAttributes(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => {
      const text = String(value);
      const isPlain = typeof value !== "string" || (readValue(text) === value && text.trim() === text);
      return `${name}: ${isPlain ? text : JSON.stringify(value)}`;
    })
    .join("\n");
}

/** Throws an Error that names a line without a name or a value. */
export function parseAttributes(lines: string): Attributes {
  const attributes: Attributes = {};
  for (const line of lines.split("\n")) {
    if (line.trim() === "") continue;
    const colon = line.indexOf(":");
    const name = line.slice(0, Math.max(0, colon)).trim();
    const value = line.slice(colon + 1).trim();
    if (name === "" || value === "")
      throw new Error(t("Write '{{line}}' as a name, a colon and a value.", { line: line.trim() }));
    attributes[name] = readValue(value);
  }
  return attributes;
}

function readValue(text: string): string | number | boolean {
  if (text === "true" || text === "false") return text === "true";
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Number(text);
  if (!/^".*"$/.test(text)) return text;
  try {
    return String(JSON.parse(text));
  } catch {
    return text;
  }
}
