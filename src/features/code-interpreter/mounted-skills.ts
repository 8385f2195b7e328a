/** Skills within a container. */

import type { MountedSkill } from "../skills/index.ts";
import type { SandboxFile } from "./sandbox/sandbox-messages.ts";

/** Folder of a skill in every container. */
export function folderOfSkill(name: string): string {
  return `/mnt/skills/${name}`;
}

export function toSandboxFiles({ name, files }: MountedSkill): SandboxFile[] {
  return files.map(({ path, content }) => {
    const { buffer, byteOffset, byteLength } = content;
    const base64 = Buffer.from(buffer, byteOffset, byteLength).toString("base64");
    return { path: `${folderOfSkill(name)}/${path}`, base64 };
  });
}
