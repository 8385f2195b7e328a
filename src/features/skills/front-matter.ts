/** Name and description of a skill: the YAML at the beginning of its SKILL.md. */

import { parse } from "yaml";
import { isSkillName } from "../../wire/openai/skills.ts";
import { BundleError, shown } from "./bundle-error.ts";
import { MAX_DESCRIPTION_LENGTH, MAX_FRONT_MATTER_LENGTH } from "./bundle-limits.ts";

export interface FrontMatter {
  name: string;
  description: string;
}

const HEAD = /^---[ \t]*\r?\n([\s\S]*?)\r?\n---[ \t]*(?:\r?\n|$)/;
const FORM = "It begins with a line `---`, then `name: …` and `description: …`, then a line `---`.";

/** Throws a BundleError for a front matter that is missing or invalid. */
export function readFrontMatter(manifest: Buffer): FrontMatter {
  const yaml = HEAD.exec(textOf(manifest).slice(0, MAX_FRONT_MATTER_LENGTH))?.[1];
  if (yaml === undefined) throw new BundleError(`SKILL.md has no front matter. ${FORM}`);
  const fields = parseYaml(yaml);
  const { name, description } = fields;
  if (typeof name !== "string") throw new BundleError(`The front matter of SKILL.md has no 'name'. ${FORM}`);
  if (!isSkillName(name)) {
    const message = `The name ${shown(name)} of SKILL.md is not valid: at most 64 lower-case letters, digits, - and _, of which a letter or digit is the first.`;
    throw new BundleError(message);
  }
  return { name, description: checkDescription(description) };
}

function checkDescription(description: unknown): string {
  const text = typeof description === "string" ? description.trim() : "";
  if (text === "") throw new BundleError(`The front matter of SKILL.md has no 'description'. ${FORM}`);
  if (text.length > MAX_DESCRIPTION_LENGTH) {
    const message = `The description of SKILL.md has ${text.length} characters; ${MAX_DESCRIPTION_LENGTH} are allowed.`;
    throw new BundleError(message);
  }
  // PostgreSQL stores neither NUL nor half a surrogate pair.
  if (/[^\P{Cc}\n\r\t]/u.test(text) || !text.isWellFormed()) {
    throw new BundleError("The description of SKILL.md has control characters.");
  }
  return text;
}

function textOf(manifest: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(manifest);
  } catch {
    throw new BundleError("SKILL.md is not UTF-8.");
  }
}

function parseYaml(yaml: string): Readonly<Record<string, unknown>> {
  let value: unknown;
  try {
    // Every scalar is a text, as in `name: 123`; aliases could expand to gigabytes.
    value = parse(yaml, { schema: "failsafe", maxAliasCount: 0, logLevel: "error" });
  } catch (error) {
    const [reason = ""] = String(error instanceof Error ? error.message : error).split("\n");
    throw new BundleError(`The front matter of SKILL.md is not valid YAML: ${reason.slice(0, 200)}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new BundleError(`The front matter of SKILL.md has no fields. ${FORM}`);
}
