/** An earlier commit of this repository, to start its service from its sources. */

import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { ROOT } from "../service/executable.ts";

const run = promisify(execFile);

const SOURCES = ["src", "packages", "scripts", "assets", "package.json", "console/package.json"];
const OWN_SCOPE = "@parlance-inference";

export interface PreviousVersion extends AsyncDisposable {
  executable: string;
}

/** Whether the history has the commit; a shallow clone and an archive of the sources do not. */
export async function hasCommit(commit: string): Promise<boolean> {
  return run("git", ["cat-file", "-e", `${commit}^{commit}`], { cwd: ROOT }).then(
    () => true,
    () => false,
  );
}

/** Extracts the sources of a commit beside the packages that are installed here. */
export async function checkOut(commit: string): Promise<PreviousVersion> {
  const folder = await mkdtemp(join(tmpdir(), "parlance-previous-"));
  const archive = join(folder, "sources.tar");
  await run("git", ["archive", "--output", archive, commit, ...SOURCES], { cwd: ROOT });
  await run("tar", ["-xf", archive, "-C", folder]);
  const installed = join(ROOT, "node_modules");
  const linked = join(folder, "node_modules");
  await mkdir(join(linked, OWN_SCOPE), { recursive: true });
  for (const name of await readdir(installed)) {
    if (name !== OWN_SCOPE && !name.startsWith(".")) await symlink(join(installed, name), join(linked, name));
  }
  for (const name of await readdir(join(folder, "packages"))) {
    await symlink(join(folder, "packages", basename(name)), join(linked, OWN_SCOPE, name));
  }
  return {
    executable: join(folder, "scripts/start.mjs"),
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true, maxRetries: 3 }),
  };
}
