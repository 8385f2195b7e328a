import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, readFile, readlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, onTestFinished, test } from "vitest";
import { temporaryDirectory } from "../../test/support/service/temporary-directory.ts";

const run = promisify(execFile);
const SCRIPT = join(import.meta.dirname, "package-files.ts");
const ADDRESS = "https://downloads.example.com/parlance";
const hasRuby = process.env.PATH?.split(":").some((folder) => existsSync(join(folder, "ruby"))) ?? false;

async function release(...systems: string[]) {
  const folder = await temporaryDirectory();
  onTestFinished(() => folder[Symbol.asyncDispose]());
  const lines = systems.map((system, at) => `${String(at + 1).repeat(64)}  parlance-0.1.0-${system}.tar.gz\n`);
  await writeFile(join(folder.path, "SHA256SUMS"), lines.join(""));
  const write = () => run(process.execPath, [SCRIPT, "--release", folder.path, "--address", `${ADDRESS}/`]);
  return { path: folder.path, write };
}

test("the formula has the archive of each system, with its checksum", async () => {
  const { path, write } = await release("darwin-arm64", "linux-arm64", "linux-x64", "linux-x64-gateway");
  await write();
  const formula = await readFile(join(path, "parlance.rb"), "utf8");
  expect(formula).toContain(`  on_macos do
    on_arm do
      url "${ADDRESS}/parlance-0.1.0-darwin-arm64.tar.gz"
      sha256 "${"1".repeat(64)}"
    end
  end
  on_linux do
    on_intel do
      url "${ADDRESS}/parlance-0.1.0-linux-x64.tar.gz"
      sha256 "${"3".repeat(64)}"
    end
    on_arm do
      url "${ADDRESS}/parlance-0.1.0-linux-arm64.tar.gz"
`);
  if (hasRuby) await run("ruby", ["-c", join(path, "parlance.rb")]);
  else console.log("skipped: no ruby to parse the formula");
});

test("the PKGBUILD packages the archive as makepkg calls it", async () => {
  const { path, write } = await release("linux-x64");
  await write();
  const unpacked = join(path, "src/parlance-0.1.0-linux-x64");
  await mkdir(join(unpacked, "bin"), { recursive: true });
  await writeFile(join(unpacked, "bin/parlance"), "program");
  await writeFile(join(unpacked, "LICENSE"), "license");
  const makepkg = `set -eu; srcdir=$PWD/src pkgdir=$PWD/pkg; . ./PKGBUILD; package; printf '%s\\n' "\${source_x86_64[@]}" "\${sha256sums_x86_64[@]}" "\${arch[@]}"`;
  const { stdout } = await run("bash", ["-c", makepkg], { cwd: path });
  expect(stdout.split("\n").filter(Boolean)).toEqual([
    `${ADDRESS}/parlance-0.1.0-linux-x64.tar.gz`,
    "1".repeat(64),
    "x86_64",
  ]);
  expect(await readlink(join(path, "pkg/usr/bin/parlance"))).toBe("/opt/parlance/bin/parlance");
  expect(await readFile(join(path, "pkg/opt/parlance/bin/parlance"), "utf8")).toBe("program");
  expect(await readFile(join(path, "pkg/usr/share/licenses/parlance-bin/LICENSE"), "utf8")).toBe("license");
});

test("refuses a folder without archives of this version", async () => {
  const { write } = await release();
  await expect(write()).rejects.toThrow(/has no archive of 0\.1\.0/);
});
