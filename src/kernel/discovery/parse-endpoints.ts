/** Reads a list of endpoints: addresses, or the target groups of Prometheus' file_sd_configs. */

import { isIPv4, isIPv6 } from "node:net";
import { parse } from "yaml";
import { z } from "zod";
import { lazy } from "../lazy.ts";
import { type Endpoint, formatAddress } from "./endpoint.ts";

/** Groups as Prometheus has them; their labels have no meaning here. */
const EndpointList = z.array(z.union([z.string(), lazy.looseObject(() => ({ targets: z.array(z.string()) }))]));

const ADDRESS = /^(?:\[(?<v6>[^[\]]+)\]|(?<name>[^:[\]]+))(?::(?<port>\d{1,5}))?$/;
const HOST_NAME =
  /^(?=.{1,253}$)[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*\.?$/i;
/** Looks like a number, so it would be an IPv4 address. */
const NUMERIC_END = /(?:^|\.)\d+\.?$/;

/** Parses YAML or JSON and removes duplicates. Throws an Error whose message says what is wrong with the text. */
export function parseEndpoints(text: string, defaultPort: number): Endpoint[] {
  const checked = EndpointList.safeParse(parseText(text));
  if (!checked.success) throw new Error("must contain a list of addresses, such as [10.0.0.5:8000, 10.0.0.6:8000]");
  const addresses = checked.data.flatMap((each) => (typeof each === "string" ? [each] : each.targets));
  const endpoints = addresses.map((each) => parseAddress(each, defaultPort));
  return [...new Map(endpoints.map((each) => [formatAddress(each), each])).values()];
}

function parseText(text: string): unknown {
  if (text.trim() === "") throw new Error("is empty; write [] for a pool without endpoints");
  try {
    return parse(text);
  } catch (error) {
    const [firstLine] = (error as Error).message.split("\n");
    throw new Error(`is neither YAML nor JSON: ${firstLine}`);
  }
}

function parseAddress(text: string, defaultPort: number): Endpoint {
  const { v6, name, port } = isIPv6(text) ? { v6: text } : (ADDRESS.exec(text)?.groups ?? {});
  const host = v6 ?? name ?? "";
  const isHost = v6 === undefined ? isIPv4(host) || (HOST_NAME.test(host) && !NUMERIC_END.test(host)) : isIPv6(v6);
  const isPort = port === undefined || (Number(port) >= 1 && Number(port) <= 65_535);
  if (!isHost || !isPort) {
    const hint = text.includes("://") ? "; the scheme and the path are those of base_url" : "";
    throw new Error(`contains ${JSON.stringify(text)}, which is not an address such as 10.0.0.5:8000${hint}`);
  }
  return { host, port: Number(port ?? defaultPort), weight: 1, isBackup: false };
}
