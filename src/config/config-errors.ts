/** Collects every error of a configuration, so that all are reported at once. */

import { Fault } from "../kernel/faults.ts";

/** Keys and indices that lead to a value in the file. */
export type Path = readonly (string | number)[];

interface FileError {
  path: Path;
  message: string;
}

export class ConfigErrors {
  readonly #file: FileError[] = [];
  /** Paths with an error, and paths with messages: a list is searched again for each of thousands of errors. */
  readonly #known = new Set<string>();
  readonly #environment: string[] = [];
  /** Secret texts and what to show in their place. */
  readonly #redactions = new Map<string, string>();

  get isEmpty(): boolean {
    return this.#file.length === 0 && this.#environment.length === 0;
  }

  /** `message` follows the path, such as `must be a string`. */
  add(path: Path, message: string): void {
    const key = JSON.stringify([path, message]);
    if (this.#known.has(key)) return;
    this.#known.add(key).add(JSON.stringify([path]));
    this.#file.push({ path, message });
  }

  addVariable(name: string, message: string): void {
    this.#environment.push(`${name}: ${message}`);
  }

  has(path: Path): boolean {
    return this.#known.has(JSON.stringify([path]));
  }

  /** Redacts a text from all messages, since an engine's message may quote its input. Texts below 6 characters stay, since they match by accident. */
  redact(text: string, replacement: string): void {
    if (text.length >= 6) this.#redactions.set(text, replacement);
  }

  /** Messages of the errors at or below a path, each after the path from there. */
  below(path: Path): string[] {
    return this.#file
      .filter((each) => path.every((part, index) => part === each.path[index]))
      .map((each) => this.#redact(`${formatPath(each.path.slice(path.length))}${each.message}`));
  }

  /** Whether an error is in the environment, or in the file outside of these paths. */
  hasOutside(paths: Iterable<Path>): boolean {
    const inside = [...paths];
    const isInside = ({ path }: FileError) => inside.some((each) => each.every((part, index) => part === path[index]));
    return this.#environment.length > 0 || !this.#file.every(isInside);
  }

  /** `lineOf` returns the line of a path in the file, if known. */
  toFault(file: string | undefined, lineOf: (path: Path) => number | undefined): Fault {
    const inFile = this.#file
      .map((each) => ({ ...each, line: lineOf(each.path) }))
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
      .map(({ path, message, line }) => `${formatPath(path)}${message}${line === undefined ? "" : ` (line ${line})`}`);
    const count = inFile.length + this.#environment.length;
    const lines = [`The configuration has ${count === 1 ? "1 error" : `${count} errors`}.`];
    if (this.#environment.length > 0) lines.push("In the environment:", ...indent(this.#environment));
    if (inFile.length > 0) lines.push(`In ${file}:`, ...indent(inFile));
    return new Fault("invalid-request", this.#redact(lines.join("\n")), { code: "invalid_configuration" });
  }

  #redact(text: string): string {
    const longestFirst = [...this.#redactions].sort(([a], [b]) => b.length - a.length);
    return longestFirst.reduce((shown, [secret, replacement]) => shown.replaceAll(secret, replacement), text);
  }
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function formatPath(path: Path): string {
  if (path.length === 0) return "";
  const joined = path.map((part) => {
    if (typeof part === "number") return `[${part}]`;
    return /^[A-Za-z_][\w-]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
  });
  return `${joined.join("").replace(/^\./, "")}: `;
}
