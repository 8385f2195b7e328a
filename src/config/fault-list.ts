/** Gathers every fault of a configuration, so that all of them are told at once. */

import { Fault } from "../faults.ts";

/** Where in the file: keys and indices. */
export type Path = readonly (string | number)[];

interface FileFault {
  path: Path;
  message: string;
}

export class FaultList {
  readonly #file: FileFault[] = [];
  readonly #environment: string[] = [];
  /** Texts that no message may show, each with what stands for it. */
  readonly #hidden = new Map<string, string>();

  get isEmpty(): boolean {
    return this.#file.length === 0 && this.#environment.length === 0;
  }

  /** `message` continues the path, such as `must be a string`. */
  add(path: Path, message: string): void {
    const isKnown = this.#file.some((each) => each.message === message && samePath(each.path, path));
    if (!isKnown) this.#file.push({ path, message });
  }

  addVariable(name: string, message: string): void {
    this.#environment.push(`${name}: ${message}`);
  }

  has(path: Path): boolean {
    return this.#file.some((each) => samePath(each.path, path));
  }

  /** An engine's own message might quote what it was given; a text this short could be anything and hides nothing. */
  hide(text: string, standIn: string): void {
    if (text.length >= 6) this.#hidden.set(text, standIn);
  }

  /** `lineOf` gives the line of a path in the file, where there is one. */
  toFault(file: string | undefined, lineOf: (path: Path) => number | undefined): Fault {
    const inFile = this.#file
      .map((each) => ({ ...each, line: lineOf(each.path) }))
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0))
      .map(({ path, message, line }) => `${formatPath(path)}${message}${line === undefined ? "" : ` (line ${line})`}`);
    const count = inFile.length + this.#environment.length;
    const lines = [`The configuration has ${count === 1 ? "a fault" : `${count} faults`}.`];
    if (this.#environment.length > 0) lines.push("In the environment:", ...indent(this.#environment));
    if (inFile.length > 0) lines.push(`In ${file}:`, ...indent(inFile));
    return new Fault("invalid-request", this.#withoutHidden(lines.join("\n")), { code: "invalid_configuration" });
  }

  #withoutHidden(text: string): string {
    const longestFirst = [...this.#hidden].sort(([a], [b]) => b.length - a.length);
    return longestFirst.reduce((shown, [hidden, standIn]) => shown.replaceAll(hidden, standIn), text);
  }
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

function formatPath(path: Path): string {
  if (path.length === 0) return "";
  const joined = path.map((part) => {
    if (typeof part === "number") return `[${part}]`;
    return /^[A-Za-z_][\w-]*$/.test(part) ? `.${part}` : `[${JSON.stringify(part)}]`;
  });
  return `${joined.join("").replace(/^\./, "")}: `;
}
