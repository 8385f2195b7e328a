/** Reads parlance.yaml into plain values and records the line of each. */

import { readFile, stat } from "node:fs/promises";
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLError } from "yaml";
import type { ConfigErrors, Path } from "./config-errors.ts";

export interface RawFile {
  /** Content before substitution; undefined if the file cannot be read. */
  value: unknown;
  /** Whether the file contains only comments. */
  isEmpty: boolean;
  lineOf(path: Path): number | undefined;
}

/** The file as it was read last. */
export interface ReadFile {
  /** Absolute path; undefined without a file. */
  path: string | undefined;
  raw: RawFile;
}

const NOTHING: RawFile = { value: undefined, isEmpty: false, lineOf: () => undefined };

/** Far above any configuration written by hand; bounds the time spent on a wrong file. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Reads and parses the file; adds errors, such as those of its syntax, to `errors`. */
export async function readConfigFile(file: string, errors: ConfigErrors): Promise<RawFile> {
  try {
    const { size } = await stat(file);
    if (size <= MAX_FILE_BYTES) return parse(await readFile(file, "utf8"), errors);
    errors.add([], `is ${size} bytes; the maximum is ${MAX_FILE_BYTES}`);
  } catch (failure) {
    errors.add([], `cannot be read: ${reasonOf(failure)}`);
  }
  return NOTHING;
}

function parse(text: string, errors: ConfigErrors): RawFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const reportedLines = new Set<number>();
  for (const error of document.errors) {
    const { line, col } = lines.linePos(error.pos[0]);
    // Further errors on a line mostly follow from its first one.
    if (!reportedLines.has(line)) errors.add([], `line ${line}, column ${col}: ${describe(error)}`);
    reportedLines.add(line);
  }
  if (document.errors.length > 0) return NOTHING;
  try {
    const value: unknown = document.toJS() ?? {};
    return { value, isEmpty: document.contents === null, lineOf: (path) => lineOf(document.contents, path) };
  } catch {
    errors.add([], "expands too many anchors");
    return NOTHING;
  }

  function lineOf(root: Node | null, path: Path): number | undefined {
    let node: unknown = root;
    let offset: number | undefined;
    for (const part of path) {
      const { at, value } = childOf(isAlias(node) ? node.resolve(document) : node, part);
      offset = startOf(at) ?? offset;
      node = value;
    }
    return offset === undefined ? undefined : lines.linePos(offset).line;
  }

  /** `at`: where the value of `part` is written, by its key where it has one. */
  function childOf(node: unknown, part: string | number): { at?: unknown; value?: unknown } {
    if (isSeq(node)) {
      const value = node.items[Number(part)];
      return { at: value, value };
    }
    if (!isMap(node)) return {};
    const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
    return pair === undefined ? {} : { at: pair.key, value: pair.value };
  }
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

/** The parser's message without its quotes from the file, which may contain secrets. */
function describe(error: YAMLError): string {
  const message = error.message.replace(/(: (?!is )| sequence \\).*$/s, "");
  return /\bflow[- ](map|collection)/i.test(message) || error.code === "BAD_INDENT"
    ? `${message} (quote a value that contains { or } or ": ")`
    : message;
}

function reasonOf(failure: unknown): string {
  const code = (failure as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "permission denied";
  if (code === "EISDIR") return "it is a directory";
  return code ?? String(failure);
}
