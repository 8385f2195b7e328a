/** Protection against requests that other sites make with a signed-in browser's cookie (CSRF). */

import type { FastifyRequest } from "fastify";
import { Fault } from "../kernel/faults.ts";

declare module "fastify" {
  interface FastifyInstance {
    /** Address of the service in browsers; undefined: not configured. */
    publicUrl: string | undefined;
  }
}

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD"]);

/**
 * Throws a Fault unless the request comes from a page of this origin. `SameSite=Strict` does not suffice: pages on other
 * ports of the same host are of the same site. Browsers that do not send Sec-Fetch-Site send Origin with every change.
 */
export function refuseOtherSites(request: FastifyRequest): void {
  const { "sec-fetch-site": site, origin } = request.headers;
  const isSafe = SAFE_METHODS.has(request.method);
  if (site !== undefined && site !== "same-origin" && !(isSafe && site === "none")) throw crossSite();
  if (origin !== undefined && !isOwnOrigin(request, URL.parse(origin))) throw crossSite();
  if (!isSafe && site === undefined && origin === undefined) throw crossSite();
}

/**
 * Compares schemes, too: whoever changes pages of `http:` on the network must not act on `https:`. Behind a proxy that
 * encrypts and is not trusted, requests arrive with `http:`; there, the browser itself must say that the page is ours.
 */
function isOwnOrigin({ server, host, protocol, headers }: FastifyRequest, page: URL | null): boolean {
  if (page?.host !== host) return false;
  const published = URL.parse(server.publicUrl ?? "");
  if (published?.host === host) return page.protocol === published.protocol;
  return page.protocol === `${protocol}:` || (protocol === "http" && headers["sec-fetch-site"] === "same-origin");
}

function crossSite(): Fault {
  return new Fault("forbidden", "A console session can be used only by pages of this service's own origin.", {
    code: "cross_site_request",
  });
}
