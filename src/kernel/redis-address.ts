/** Reads REDIS_URL: one server, the Sentinels of a primary, or nodes of a cluster. */

import { Secret } from "./secret.ts";

const DEFAULT_PORTS = { server: 6379, sentinel: 26_379, cluster: 6379 };
const PATTERN =
  /^(?<scheme>rediss?)(?:-(?<kind>sentinel|cluster))?:\/\/(?:(?<credentials>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<database>\d*))?(?:\?(?<query>[^#]*))?(?:#(?<primary>.+))?$/;
const HOST = /^(?:\[(?<ipv6>[\da-f:.]+)\]|(?<name>[^[\]:]+))(?::(?<port>\d{1,5}))?$/i;

const TLS_FILES = { ssl_ca_certs: "ca", ssl_certfile: "cert", ssl_keyfile: "key" } as const;
const SENTINEL_ACCOUNT = { sentinel_username: "username", sentinel_password: "password" } as const;

export interface RedisAddress {
  kind: keyof typeof DEFAULT_PORTS;
  /** The server, or the Sentinels or cluster nodes to ask. */
  nodes: readonly RedisNode[];
  database: number;
  account: RedisAccount;
  /** Name under which the Sentinels know the primary. */
  primary: string | undefined;
  sentinelAccount: RedisAccount;
  /** Paths of PEM files; undefined: no TLS. */
  tls: Partial<Record<"ca" | "cert" | "key", string>> | undefined;
}

export interface RedisNode {
  host: string;
  port: number;
}

export interface RedisAccount {
  username: string | undefined;
  password: Secret | undefined;
}

/**
 * Parses `redis://`, `redis-sentinel://` and `redis-cluster://`, and each with `rediss` for TLS. The schemes of
 * Sentinels and clusters are Lettuce's, which take several hosts, and the primary's name as the fragment. The parameters
 * for TLS are redis-py's. Throws an Error that quotes nothing of the URL.
 */
export function parseRedisUrl(url: string): RedisAddress {
  const parts = PATTERN.exec(url)?.groups;
  if (parts === undefined) {
    throw new Error(
      "must be redis://host:port/database, redis-sentinel://host:port,host:port/database#primary or redis-cluster://host:port,host:port, each also with rediss",
    );
  }
  const kind = (parts.kind as RedisAddress["kind"] | undefined) ?? "server";
  const nodes = (parts.hosts ?? "").split(",").map((each) => parseHost(each, DEFAULT_PORTS[kind]));
  const database = Number(parts.database || 0);
  checkParts(kind, { hosts: nodes.length, primary: parts.primary, database });
  const query = new URLSearchParams(parts.query);
  const usesTls = parts.scheme === "rediss";
  const applicable = [usesTls ? TLS_FILES : {}, kind === "sentinel" ? SENTINEL_ACCOUNT : {}];
  if (![...query.keys()].every((name) => applicable.some((names) => name in names))) {
    const names = [...Object.keys(TLS_FILES), ...Object.keys(SENTINEL_ACCOUNT)].join(", ");
    throw new Error(`has a parameter that does not apply here; with TLS or Sentinels there are ${names}`);
  }
  const files = readParameters(query, TLS_FILES);
  const sentinelAccount = readParameters(query, SENTINEL_ACCOUNT);
  return {
    kind,
    nodes,
    database,
    account: parseCredentials(parts.credentials ?? ""),
    primary: parts.primary,
    sentinelAccount: toAccount(sentinelAccount.username, sentinelAccount.password),
    tls: usesTls ? files : undefined,
  };
}

function checkParts(
  kind: RedisAddress["kind"],
  { hosts, primary, database }: { hosts: number; primary: string | undefined; database: number },
): void {
  if (kind === "server" && hosts > 1) {
    throw new Error("names several hosts, which need redis-sentinel:// or redis-cluster://");
  }
  if ((kind === "sentinel") !== (primary !== undefined)) {
    throw new Error("needs the primary's name after # with redis-sentinel://, and nothing after # otherwise");
  }
  if (kind === "cluster" && database !== 0) throw new Error("names a database, but a cluster has only database 0");
}

function parseHost(text: string, defaultPort: number): RedisNode {
  const { ipv6, name, port = String(defaultPort) } = HOST.exec(text)?.groups ?? {};
  const host = ipv6 ?? name;
  if (host === undefined || Number(port) > 65_535) {
    throw new Error("has a host that is not a name or address with an optional port");
  }
  return { host, port: Number(port) };
}

function parseCredentials(text: string): RedisAccount {
  const [username = "", ...rest] = text.split(":");
  try {
    return toAccount(decodeURIComponent(username), decodeURIComponent(rest.join(":")));
  } catch {
    throw new Error("has a user name or password that is not percent-encoded");
  }
}

function toAccount(username = "", password = ""): RedisAccount {
  return { username: username || undefined, password: password === "" ? undefined : new Secret(password) };
}

function readParameters<Key extends string>(query: URLSearchParams, names: Readonly<Record<string, Key>>) {
  const parts: Partial<Record<Key, string>> = {};
  for (const [name, key] of Object.entries(names)) {
    const value = query.get(name);
    if (value !== null) parts[key] = value;
  }
  return parts;
}
