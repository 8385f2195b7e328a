/** Setting of a pool of endpoints: where their addresses come from. */

import { Resolver } from "node:dns";
import { z } from "zod";
import type { Endpoint, EndpointSource } from "../../kernel/discovery/endpoint.ts";
import { DAY_SECONDS } from "../../kernel/durations.ts";

export type EndpointAddress = Pick<Endpoint, "host" | "port">;

const nameserver = z.string().refine(isNameserver, {
  error: "is not an IP address with an optional port, such as 127.0.0.1:8600",
});

export const endpoints = z
  .strictObject({
    dns: z
      .string()
      .min(1)
      .max(254)
      .optional()
      .describe("Fully qualified DNS name of the endpoints, such as that of a headless Kubernetes service"),
    type: z
      .enum(["A", "SRV"])
      .default("A")
      .describe(
        "Type of the DNS records. A: addresses (AAAA where there is no A), with the port of `base_url`. SRV: addresses with ports, weights and priorities",
      ),
    nameservers: z
      .array(nameserver)
      .max(10)
      .default([])
      .describe("IP addresses of the name servers, with optional ports. Default: those of the system"),
    file: z
      .string()
      .min(1)
      .optional()
      .describe(
        "YAML or JSON file with a list of addresses such as 10.0.0.5:8000, or with target groups as of Prometheus' file_sd_configs. It is read again when it changes",
      ),
    refresh_seconds: z
      .number()
      .min(0.1)
      .max(DAY_SECONDS)
      .optional()
      .describe(
        "Seconds between lookups. A shorter TTL of the DNS records takes precedence. Default: 30; 1 for a file",
      ),
  })
  .refine(({ dns, file }) => (dns === undefined) !== (file === undefined), { error: "needs either dns or file" })
  .describe(
    "Endpoints that come and go and that the deployment stands for. Connections go to their addresses; the Host header and the name in the certificate remain those of `base_url`. Default: one endpoint, `base_url`",
  );

export function toEndpointSource(setting: z.output<typeof endpoints>, baseUrl: string): EndpointSource {
  const { dns, type: recordType, nameservers, file: path = "", refresh_seconds } = setting;
  const { port, protocol } = new URL(baseUrl);
  const defaultPort = Number(port) || (protocol === "https:" ? 443 : 80);
  return dns === undefined
    ? { kind: "file", path, refreshSeconds: refresh_seconds ?? 1, defaultPort }
    : { kind: "dns", name: dns, recordType, nameservers, refreshSeconds: refresh_seconds ?? 30, defaultPort };
}

function isNameserver(address: string): boolean {
  try {
    new Resolver().setServers([address]);
    return true;
  } catch {
    return false;
  }
}
