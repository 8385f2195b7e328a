/** Reads parlance.yaml into plain values, and remembers on which line each stands. */

import { readFile, stat } from "node:fs/promises";
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type YAMLError } from "yaml";
import type { FaultList, Path } from "./fault-list.ts";

export interface RawFile {
  /** As written, before any substitution; undefined when there is no file or it cannot be read. */
  value: unknown;
  /** Whether nothing is in it but comments. */
  isEmpty: boolean;
  lineOf(path: Path): number | undefined;
}

const NOTHING: RawFile = { value: undefined, isEmpty: false, lineOf: () => undefined };

/** Nobody writes this much by hand, and it bounds the time that a wrong file takes. */
const MAX_FILE_BYTES = 4 * 1024 * 1024;

export async function readConfigFile(file: string, faults: FaultList): Promise<RawFile> {
  try {
    const { size } = await stat(file);
    if (size <= MAX_FILE_BYTES) return parse(await readFile(file, "utf8"), faults);
    faults.add([], `is ${size} bytes long; at most ${MAX_FILE_BYTES} are read`);
  } catch (failure) {
    faults.add([], `cannot be read: ${reasonOf(failure)}`);
  }
  return NOTHING;
}

function parse(text: string, faults: FaultList): RawFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, merge: true });
  const linesAtFault = new Set<number>();
  for (const error of document.errors) {
    const { line, col } = lines.linePos(error.pos[0]);
    // What follows on the same line is mostly the first one's consequence.
    if (!linesAtFault.has(line)) faults.add([], `line ${line}, column ${col}: ${describe(error)}`);
    linesAtFault.add(line);
  }
  if (document.errors.length > 0) return NOTHING;
  try {
    const value: unknown = document.toJS() ?? {};
    return { value, isEmpty: document.contents === null, lineOf: (path) => lineOf(document.contents, path) };
  } catch {
    faults.add([], "refers to its own anchors too often");
    return NOTHING;
  }

  function lineOf(root: Node | null, path: Path): number | undefined {
    let node: unknown = root;
    let offset: number | undefined;
    for (const part of path) {
      if (isAlias(node)) node = node.resolve(document);
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(part));
        if (pair === undefined) break;
        offset = startOf(pair.key) ?? offset;
        node = pair.value;
      } else if (isSeq(node)) {
        node = node.items[Number(part)];
        offset = startOf(node) ?? offset;
      } else break;
    }
    return offset === undefined ? undefined : lines.linePos(offset).line;
  }
}

function startOf(node: unknown): number | undefined {
  return (node as Node | null | undefined)?.range?.[0];
}

/** The parser's message without what it quotes from the file, which may be a secret. */
function describe(error: YAMLError): string {
  const message = error.message.replace(/(: (?!is )| sequence \\).*$/s, "");
  return /\bflow[- ](map|collection)/i.test(message) || error.code === "BAD_INDENT"
    ? `${message} (a value that holds { or } or ": " needs quotes)`
    : message;
}

function reasonOf(failure: unknown): string {
  const code = (failure as NodeJS.ErrnoException).code;
  if (code === "ENOENT") return "there is no such file";
  if (code === "EACCES") return "permission denied";
  if (code === "EISDIR") return "it is a directory";
  return code ?? String(failure);
}
