/** Protection against requests that other sites make with a signed-in browser's cookie (CSRF). */

import type { FastifyRequest } from "fastify";
import { Fault } from "../kernel/faults.ts";

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Throws a Fault unless the request comes from a page of this origin. `SameSite=Strict` does not suffice: pages on other
 * ports of the same host are of the same site. Browsers that do not send Sec-Fetch-Site send Origin with every change.
 */
export function refuseOtherSites(request: FastifyRequest): void {
  const { "sec-fetch-site": site, origin } = request.headers;
  const isSafe = SAFE_METHODS.has(request.method);
  if (site !== undefined && site !== "same-origin" && !(isSafe && site === "none")) throw crossSite();
  if (origin !== undefined && URL.parse(origin)?.host !== request.host) throw crossSite();
  if (!isSafe && site === undefined && origin === undefined) throw crossSite();
}

function crossSite(): Fault {
  return new Fault("forbidden", "A console session can be used only by pages of this service's own origin.", {
    code: "cross_site_request",
  });
}
