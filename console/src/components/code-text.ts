/** Text of code samples. untranslated file: code. */

import { urlOf } from "../api/request.ts";

export function baseUrl(): string {
  return urlOf("v1");
}

/** Quotes for a POSIX shell. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

/** Writes a JSON value as a Python literal. */
export function toPython(value: unknown, indent = 0): string {
  const pad = " ".repeat(indent + 4);
  const end = " ".repeat(indent);
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value)) {
    if (value.length === 0) return "[]";
    return `[\n${value.map((each) => `${pad}${toPython(each, indent + 4)},\n`).join("")}${end}]`;
  }
  if (typeof value === "object") {
    const entries = Object.entries(value);
    if (entries.length === 0) return "{}";
    return `{${entries.map(([name, each]) => `${JSON.stringify(name)}: ${toPython(each, indent + 4)}`).join(", ")}}`;
  }
  // JSON escapes a character beyond the BMP as is, and Python reads the same escapes.
  return JSON.stringify(value);
}

export const PYTHON_CLIENT = () => `import os
from openai import OpenAI

client = OpenAI(base_url=${JSON.stringify(baseUrl())}, api_key=os.environ["OPENAI_API_KEY"])
`;

export const TYPESCRIPT_CLIENT = () => `import OpenAI from "openai";

const client = new OpenAI({ baseURL: ${JSON.stringify(baseUrl())}, apiKey: process.env.OPENAI_API_KEY });
`;

export function curlJson(path: string, body: unknown, flags = ""): string {
  return `curl ${flags}${baseUrl()}/${path} \\
  -H "Authorization: Bearer $OPENAI_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d ${shellQuote(JSON.stringify(body, undefined, 2))}`;
}
