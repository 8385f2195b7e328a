/** Draws Mermaid diagrams in a thread of their own, which the page ends when one takes too long. */

import { MAX_LABELS } from "./diagram-limits.ts";

/** CSS colors of texts, lines and boxes, by the names of beautiful-mermaid. */
export type DiagramColors = Readonly<Record<"fg" | "bg" | "line" | "muted" | "surface" | "border", string>>;

export interface DiagramRequest {
  id: number;
  source: string;
  colors: DiagramColors;
}

export type DiagramAnswer =
  | { id: number; svg: string; width: number; height: number; labels: string[] }
  | { id: number; error: string };

interface WorkerScope {
  document?: object;
  onmessage: ((event: { data: DiagramRequest }) => void) | null;
  postMessage(answer: DiagramAnswer): void;
}

const scope = globalThis as unknown as WorkerScope;
// Without a document, elkjs takes the thread for its own and exports nothing.
scope.document ??= {};
// beautiful-mermaid assigns it, which workers have as a getter.
Object.defineProperty(scope, "self", { value: scope, writable: true, configurable: true });

scope.onmessage = async ({ data: { id, source, colors } }) => {
  try {
    const { renderMermaidSVG } = await import("beautiful-mermaid");
    const drawn = renderMermaidSVG(source, { ...colors, transparent: true, font: "system-ui" });
    // A picture loads nothing, and its text has the font of the system.
    const svg = drawn.replace(/@import url\([^)]*\);/g, "");
    const [, width = "0", height = "0"] = / width="([\d.]+)" height="([\d.]+)"/.exec(svg) ?? [];
    // untranslated: an error of the diagram, as those of the parser
    if (Number(width) === 0 || Number(height) === 0) throw new Error("The diagram is empty.");
    scope.postMessage({ id, svg, width: Number(width), height: Number(height), labels: labelsOf(svg) });
  } catch (failure) {
    scope.postMessage({ id, error: failure instanceof Error ? failure.message : String(failure) });
  }
};

/** Texts of a drawn diagram, in its order. */
function labelsOf(svg: string): string[] {
  const texts = [...svg.matchAll(/<text\b[^>]*>(.*?)<\/text>/gs)].map(([, content = ""]) =>
    content
      .replace(/<[^>]*>/g, " ")
      .replace(/&(lt|gt|quot|#39|apos|amp);/g, (_all, name: string) => ENTITIES[name] ?? "")
      .trim(),
  );
  return [...new Set(texts.filter((text) => text !== ""))].slice(0, MAX_LABELS);
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", quot: '"', "#39": "'", apos: "'", amp: "&" };
