/** Code or a table of an answer that can be shown beside the conversation. */

import { createContext } from "react";

export type ArtifactKind = "html" | "script" | "svg" | "markdown" | "table" | "code";

export interface Artifact {
  kind: ArtifactKind;
  /** Code as the answer has it; a table as CSV. */
  code: string;
  /** As the fence names it; empty: none. */
  language: string;
}

/** Opens an artifact; null: the page has no place for one. */
export const OpenArtifact = createContext<((artifact: Artifact) => void) | null>(null);

const KINDS: Readonly<Record<string, ArtifactKind>> = {
  ...{ html: "html", htm: "html", xhtml: "html", svg: "svg", md: "markdown", markdown: "markdown" },
  ...{ csv: "table", tsv: "table", js: "script", javascript: "script", mjs: "script" },
};

/** Reads the kind from the language of a fence, or from how the code begins. */
export function toArtifact(code: string, language: string): Artifact {
  const name = language.toLowerCase();
  const start = code.trimStart().slice(0, 200).toLowerCase();
  const isUnnamed = name === "" || name === "xml";
  if (isUnnamed && /^<!doctype html|^<html/.test(start)) return { kind: "html", code, language };
  if (isUnnamed && /^(<\?xml[^>]*>\s*)?<svg/.test(start)) return { kind: "svg", code, language };
  return { kind: KINDS[name] ?? "code", code, language };
}

/** Whether an artifact can be shown as something else than its code. */
export function hasPreview({ kind }: Artifact): boolean {
  return kind !== "code";
}
