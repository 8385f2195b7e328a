/** Protection against DNS rebinding, by which a web page reaches a service on this machine under its own name. */

import { isIP } from "node:net";
import { hostname } from "node:os";
import type { FastifyInstance } from "fastify";
import { sentKey } from "../../http/sent-key.ts";
import { sessionToken } from "../../http/session-cookie.ts";
import { Fault } from "../../kernel/faults.ts";

/** Refuses requests without a key whose Host is a name that a public DNS server may resolve, unless it is listed. */
export function requireLocalHost(scope: FastifyInstance, listed: readonly string[]): void {
  const allowed = new Set([...listed, hostname()].map((each) => each.toLowerCase()));
  scope.addHook("onRequest", (request, _reply, done) => {
    const isAnonymous = sentKey(request.headers) === undefined && sessionToken(request) === undefined;
    // A page sends what X-Forwarded-Host it likes through a proxy that is trusted, but not another Host.
    const hosts = isAnonymous ? [request.headers.host ?? "", request.host ?? ""] : [];
    const other = hosts.find((host) => !isLocal(nameOf(host), allowed));
    done(other === undefined ? undefined : otherHost(other));
  });
}

/** Name or address of the Host header without its port; empty for an invalid one. */
function nameOf(host: string): string {
  const name = URL.parse(`http://${host}`)?.hostname ?? "";
  return name.replace(/^\[|\]$|\.$/g, "");
}

/** Names without a dot and those below `internal` are not in the public DNS; containers use both. */
function isLocal(name: string, allowed: ReadonlySet<string>): boolean {
  if (isIP(name) !== 0 || allowed.has(name)) return true;
  return name !== "" && (!name.includes(".") || name.endsWith(".localhost") || name.endsWith(".internal"));
}

function otherHost(host: string): Fault {
  const name = JSON.stringify(host.slice(0, 200));
  const message = `Requests without a key cannot use the host name ${name}. Use an IP address or localhost, send a key, or add the name to ollama.anonymous_hosts.`;
  return new Fault("forbidden", message, { code: "host_not_allowed" });
}
