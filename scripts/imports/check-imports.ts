/** Checks the imports of the sources against `import-rules.ts`, and that no files import each other in a circle. */

import { globSync, readFileSync } from "node:fs";
import { dirname, join, matchesGlob, relative, resolve } from "node:path";
import { FLOORS, floorViolation, misplacedNeighbours, partOf } from "./floors.ts";
import { IMPORT_RULES, type ImportRule, PACKAGE_RULES, PACKAGE_USERS } from "./import-rules.ts";

export const ROOT = resolve(import.meta.dirname, "../..");
const SPECIFIER = /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*)["']([^"'\n]+)["']/g;
const OWN_PACKAGE = /^@parlance-inference\/(.+)$/;

/** Sources by their path below the root of the repository, each with the specifiers that it imports. */
export function readImports(): Map<string, string[]> {
  const paths = globSync(["src/**/*.ts", "packages/*/src/**/*.ts"], { cwd: ROOT });
  const sources = paths.filter((path) => !path.endsWith(".test.ts"));
  return new Map(
    sources.map((path) => [
      path,
      [...readFileSync(join(ROOT, path), "utf8").matchAll(SPECIFIER)].map(([, specifier]) => specifier ?? ""),
    ]),
  );
}

/** Returns one line for each import that breaks a rule, and for each circle. */
export function findViolations(imports: ReadonlyMap<string, readonly string[]>): string[] {
  const violations: string[] = [];
  for (const [path, specifiers] of imports) {
    for (const specifier of specifiers) {
      const reason = path.startsWith("packages/")
        ? packageViolation(path, specifier)
        : serviceViolation(path, specifier);
      if (reason !== undefined) violations.push(`${path} imports ${specifier}: ${reason}`);
    }
  }
  return [
    ...violations,
    ...misplacedNeighbours(),
    ...findCircles(imports).map((circle) => `Circular import: ${circle.join(" → ")}`),
  ];
}

function packageViolation(path: string, specifier: string): string | undefined {
  const [, folder = ""] = path.split("/");
  const name = OWN_PACKAGE.exec(specifier)?.[1]?.split("/")[0];
  if (name !== undefined) {
    return PACKAGE_RULES[folder]?.includes(name) ? undefined : `${folder} may not use ${name}.`;
  }
  if (!specifier.startsWith(".")) return undefined;
  const target = join(dirname(path), specifier);
  return target.startsWith(`packages/${folder}/`)
    ? undefined
    : "Packages import each other by name, and never the service.";
}

function serviceViolation(path: string, specifier: string): string | undefined {
  const from = relative("src", path);
  const own = OWN_PACKAGE.exec(specifier)?.[1];
  if (own !== undefined) {
    const users = PACKAGE_USERS[own] ?? PACKAGE_USERS[own.split("/")[0] ?? ""];
    return users === undefined || users.some((user) => isWithin(from, user))
      ? undefined
      : `Only ${users.join(", ")} may.`;
  }
  if (!specifier.startsWith(".")) return undefined;
  const target = relative("src", join("src", dirname(from), specifier));
  if (target.startsWith("..")) return undefined;
  const [user, used] = [partOf(from), partOf(target)];
  const floor = floorViolation(user, used);
  if (floor !== undefined) return floor;
  if (user !== used && isWithin(from, "features") && isWithin(used, "features") && target !== `${used}/index.ts`) {
    return `Features use others through their index.ts: export it from ${used}/index.ts.`;
  }
  const rule = ruleOf(from);
  if (rule === undefined) return "No rule in scripts/imports/import-rules.ts covers this file.";
  if (isWithin(target, folderOf(rule, from))) return undefined;
  return rule.may.some((part) => part === "*" || isWithin(target, part)) ? undefined : rule.reason;
}

/** The folder that a rule covers for this file: for `engines/*`, that of the file's engine. */
function folderOf(rule: ImportRule, path: string): string {
  return path.split("/").slice(0, rule.part.split("/").length).join("/");
}

function ruleOf(path: string): ImportRule | undefined {
  const rules = IMPORT_RULES.filter(({ part }) => isWithin(path, part));
  return rules.sort((a, b) => specificity(b.part) - specificity(a.part))[0];
}

/** Longer paths before shorter ones, and names before wildcards. */
function specificity(part: string): number {
  return part.split("/").length * 2 - (part.includes("*") ? 1 : 0);
}

/** Whether a path is `part`, or lies below it. `*` stands for one segment. */
function isWithin(path: string, part: string): boolean {
  if (path === part || path.startsWith(`${part}/`)) return true;
  return part.includes("*") && (matchesGlob(path, part) || matchesGlob(path, `${part}/**`));
}

function findCircles(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const circles: string[][] = [];
  const finished = new Set<string>();
  const visit = (path: string, trail: string[]): void => {
    const start = trail.indexOf(path);
    if (start !== -1) {
      circles.push([...trail.slice(start), path]);
      return;
    }
    if (finished.has(path)) return;
    for (const specifier of imports.get(path) ?? []) {
      if (!specifier.startsWith(".")) continue;
      visit(join(dirname(path), specifier), [...trail, path]);
    }
    finished.add(path);
  };
  for (const path of imports.keys()) visit(path, []);
  return circles;
}

/** Draws the picture of the floors into the text of ARCHITECTURE.md. */
export function fillArchitecture(text: string): string {
  return text.replace(/(?<=## Floors\n[\s\S]*?)```\n[\s\S]*?\n```(?=\n)/, drawFloors);
}

const NAME_WIDTH = 26;
const LINE_WIDTH = 118;

function drawFloors(): string {
  const floors = FLOORS.map(({ name, parts }) => {
    const names = wrap(name.split(" "), " ", NAME_WIDTH - 2);
    const lines = wrap(Object.entries(parts).map(drawPart), "   ", LINE_WIDTH - NAME_WIDTH);
    const rows = Array.from({ length: Math.max(names.length, lines.length) }, (_row, index) =>
      `${(names[index] ?? "").padEnd(NAME_WIDTH)}${lines[index] ?? ""}`.trimEnd(),
    );
    return rows.join("\n");
  });
  return ["```", floors.reverse().join("\n\n"), "```"].join("\n");
}

function drawPart([part, neighbors]: [string, readonly string[]]): string {
  if (neighbors.length === 0) return part;
  return `${part} (→ ${neighbors.map((each) => each.replace("features/", "")).join(", ")})`;
}

/** Joins texts to lines of at most `width` characters. */
function wrap(texts: readonly string[], separator: string, width: number): string[] {
  const lines: string[] = [];
  for (const text of texts) {
    const line = lines.at(-1);
    if (line === undefined || line.length + separator.length + text.length > width) lines.push(text);
    else lines[lines.length - 1] = line + separator + text;
  }
  return lines;
}

if (import.meta.main) {
  const violations = findViolations(readImports());
  for (const violation of violations) console.error(violation);
  process.exitCode = violations.length === 0 ? 0 : 1;
}
