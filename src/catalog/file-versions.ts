import { stat } from "node:fs/promises";
import { filesOf } from "../engines/registry.ts";
import type { ModelSpec } from "./build-catalog.ts";

/**
 * Certificates and LoRA adapters are replaced in place: a reload has to detect the change although the settings are the
 * same.
 */
export function withFileVersions(specifications: readonly ModelSpec[]): Promise<ModelSpec[]> {
  return Promise.all(
    specifications.map(async (specification) => ({
      ...specification,
      deployments: await Promise.all(
        specification.deployments.map(async (deployment) => {
          const files = filesOf(deployment.engine, deployment.settings);
          if (files.length === 0) return deployment;
          return { ...deployment, fileVersions: (await Promise.all(files.map(ageOf))).join() };
        }),
      ),
    })),
  );
}

async function ageOf(file: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(file);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    // Opening the deployment reports why the file cannot be read.
    return "none";
  }
}
