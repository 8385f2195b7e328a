import { Fault } from "../../kernel/faults.ts";

interface Versioned {
  meta?: { version?: string | undefined } | undefined;
}

/** Throws a Fault unless the resource has one of the ETags of an If-Match header (RFC 7644, section 3.14). */
export async function checkVersion(ifMatch: string | undefined, read: () => Promise<Versioned>): Promise<void> {
  if (ifMatch === undefined || ifMatch.trim() === "*") return;
  if (hasVersion(ifMatch, await read())) return;
  const message = "The resource has changed since the version in If-Match. Read it again, then repeat the change.";
  throw new Fault("precondition-failed", message);
}

/** Whether a list of ETags contains the resource's, by weak comparison. */
export function hasVersion(header: string, { meta }: Versioned): boolean {
  const toOpaque = (tag: string) => tag.trim().replace(/^W\//, "");
  const version = meta?.version;
  return version !== undefined && header.split(",").map(toOpaque).includes(toOpaque(version));
}
