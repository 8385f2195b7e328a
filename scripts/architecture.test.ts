import { execFileSync } from "node:child_process";
import { existsSync, globSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { fillArchitecture, findViolations } from "./imports/check-imports.ts";

const architecture = readFileSync("ARCHITECTURE.md", "utf8");

/** Names of folders in the layout of ARCHITECTURE.md that stand directly below `parent`. */
function listedBelow(parent: string): string[] {
  const layout = architecture.split("## Layout")[1]?.split("```")[1] ?? "";
  const lines = layout.split("\n");
  const start = lines.findIndex((line) => line.startsWith(`${parent}/`));
  const end = lines.findIndex((line, index) => index > start && /^\S/.test(line));
  return lines
    .slice(start + 1, end)
    .filter((line) => /^ {2}\S/.test(line))
    .flatMap((line) => line.match(/[a-z0-9-]+(?=\/)/g) ?? []);
}

function foldersIn(parent: string): string[] {
  return readdirSync(parent, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name);
}

test.each(["src", "packages"])("the layout lists the folders of %s", (parent) => {
  expect(listedBelow(parent)).toEqual(expect.arrayContaining(foldersIn(parent)));
});

test("paths in the text exist", () => {
  const named = [...architecture.matchAll(/`([a-z0-9-]+(?:\/[a-z0-9.-]+)+)\/?`/g)].map(([, path]) => path ?? "");
  const inSource = named.filter((path) => foldersIn("src").includes(path.split("/")[0] ?? ""));
  expect(inSource.length).toBeGreaterThan(40);
  expect(inSource.filter((path) => !existsSync(`src/${path}`) && !existsSync(`src/${path}.ts`))).toEqual([]);
});

test("paths in decision records exist", () => {
  const records = globSync("docs/decisions/*.md");
  const missing = records.flatMap((record) => {
    const text = readFileSync(record, "utf8");
    const named = [...text.matchAll(/`([a-z0-9-]+(?:\/[\w.-]+)+)\/?`/g)].map(([, path = ""]) => path);
    const inSource = named.filter((path) => foldersIn("src").includes(path.split("/")[0] ?? ""));
    return inSource
      .filter((path) => !existsSync(`src/${path}`) && !existsSync(`src/${path}.ts`))
      .map((path) => [record, path]);
  });
  expect(records.length).toBeGreaterThan(70);
  expect(missing).toEqual([]);
});

test("no source imports values of node:http", () => {
  const sources = globSync("{src,packages/*/src}/**/*.ts").filter((path) => !path.endsWith(".test.ts"));
  const values = /^import (?!type )[^;]*? from "node:http";/m;
  const importing = sources.filter((path) => values.test(readFileSync(path, "utf8")));
  expect(sources.length).toBeGreaterThan(1000);
  expect(importing, "use kernel/node-http.ts, which says why").toEqual([]);
});

test("no file in Git holds a conflict marker", () => {
  const files = execFileSync("git", ["ls-files", "-z", "*.md", "*.yaml", "*.json", "*.ts", "*.tsx"], {
    encoding: "utf8",
  }).split("\0");
  const conflicted = files.filter((file) => file !== "" && /^(<{7}|>{7}) /m.test(readFileSync(file, "utf8")));
  expect(conflicted).toEqual([]);
});

test("the picture of the floors is up to date (npm run reference)", () => {
  expect(fillArchitecture(architecture)).toBe(architecture);
});

test.each([
  ["src/wire/openai/a.ts", "../../http/errors.ts", "http is not below wire"],
  ["src/inference/a.ts", "../wire/openai/error.ts", "no wire format"],
  ["src/features/chat/routes.ts", "../../counters/redis.ts", "behind inference and quota"],
  ["src/engines/flite/a.ts", "../kokoro/kokoro-speech.ts", "uses no other engine"],
  ["src/inference/a.ts", "@parlance-inference/audio/decode", "Only engines"],
  ["packages/audio/src/a.ts", "../../../src/kernel/faults.ts", "never the service"],
  ["packages/onnx-graph/src/a.ts", "@parlance-inference/audio/decode", "may not use audio"],
])("%s must not import %s", (path, specifier, reason) => {
  expect(findViolations(new Map([[path, [specifier]]]))).toEqual([expect.stringContaining(reason)]);
});

test("finds circular imports", () => {
  const imports = new Map([
    ["src/kernel/a.ts", ["./b.ts"]],
    ["src/kernel/b.ts", ["./a.ts"]],
  ]);
  expect(findViolations(imports)).toEqual(["Circular import: src/kernel/a.ts → src/kernel/b.ts → src/kernel/a.ts"]);
});
