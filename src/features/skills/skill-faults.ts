import { Fault, invalidRequest } from "../../kernel/faults.ts";
import { MAX_ZIP_BYTES, MEGABYTE } from "./bundle-limits.ts";

export function skillNotFound(id: string, param = "skill_id"): Fault {
  return new Fault("not-found", `The project has no skill '${id.slice(0, 100)}'.`, { code: "skill_not_found", param });
}

export function versionNotFound(id: string, version: string, param = "version"): Fault {
  const message = `The skill '${id}' has no version '${version.slice(0, 64)}'.`;
  return new Fault("not-found", message, { code: "skill_version_not_found", param });
}

export function isDefault(version: number): Fault {
  const message = `Version ${version} is the default of its skill. Choose another default version first, or delete the skill.`;
  return invalidRequest(message, "version", "skill_version_is_default");
}

export function zipTooLarge(bytes: number): Fault {
  const message = `The zip archive has ${bytes} bytes; ${MAX_ZIP_BYTES / MEGABYTE} MB are allowed.`;
  return new Fault("body-too-large", message, { param: "files" });
}
