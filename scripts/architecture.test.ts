import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

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
  expect(inSource.length).toBeGreaterThan(60);
  expect(inSource.filter((path) => !existsSync(`src/${path}`) && !existsSync(`src/${path}.ts`))).toEqual([]);
});

test("no file in Git holds a conflict marker", () => {
  const files = execFileSync("git", ["ls-files", "-z", "*.md", "*.yaml", "*.json", "*.ts", "*.tsx"], {
    encoding: "utf8",
  }).split("\0");
  const conflicted = files.filter((file) => file !== "" && /^(<{7}|>{7}) /m.test(readFileSync(file, "utf8")));
  expect(conflicted).toEqual([]);
});
