import { Fault } from "../../kernel/faults.ts";
import type { HubLocation } from "../manifest/manifest-entry.ts";

/** Explains to an operator why the hub refused a file. */
export function hubRefusal(status: number, errorCode: string | undefined, where: RefusedRequest): Fault {
  const { repository, revision, path } = where.location;
  const words = `the hub answered ${status}${errorCode ? ` ${errorCode}` : ""}`;
  if (status === 401 || status === 403) {
    const remedy = where.hasToken
      ? `the token in HF_TOKEN gives no access: accept the model's terms with that account at ${where.endpoint}/${repository}`
      : `it may be gated, private or missing: accept its terms at ${where.endpoint}/${repository} and set HF_TOKEN to a token of that account`;
    return new Fault("unavailable", `${words} for ${repository}; ${remedy}`);
  }
  if (status === 404) {
    return new Fault("not-found", `${words}: ${repository} has no file ${path} in revision ${revision}`);
  }
  return new Fault("upstream-failed", `${words} for ${repository}/${path}`);
}

export interface RefusedRequest {
  location: HubLocation;
  endpoint: string;
  hasToken: boolean;
}
