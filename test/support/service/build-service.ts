/** Bundles the sources for the processes that tests start, once per run. */

import { join } from "node:path";
import type { Plugin } from "rolldown";
import type { TestProject } from "vitest/node";
import { bundleService } from "../../../scripts/bundle/bundle-service.ts";
import { ROOT } from "./executable.ts";

const BUILDS_FOLDER = join(ROOT, "node_modules/.cache/parlance-test");

export default async function buildService(project: TestProject): Promise<void> {
  const build = () => buildInto("service");
  process.env.PARLANCE_TEST_EXECUTABLE = await build();
  project.onTestsRerun(async () => void (await build()));
}

/** Bundles the sources into a folder of this name. Resolves with the path of the executable. */
export async function buildInto(name: string, plugins: readonly Plugin[] = []): Promise<string> {
  return bundleService(join(BUILDS_FOLDER, name), plugins);
}
