/** Connects to the Redis server that holds the counters now: a fixed one, a Sentinel's primary, or a cluster's node. */

import { readFile } from "node:fs/promises";
import { createClient } from "@redis/client";
import type { RedisAccount, RedisAddress, RedisNode } from "../kernel/redis-address.ts";

export type RedisConnection = ReturnType<typeof createClient>;

const CONNECT_TIMEOUT_MS = 2_000;

/**
 * Resolves with a connection to the server that holds `key`. It does not reconnect, follow a redirection or repeat a
 * command: each of these would hide that another server took over, to which the last writes may not have been
 * replicated. `onLost` is called when it breaks.
 */
export async function connectToRedis(
  address: RedisAddress,
  key: string,
  onLost: (error: Error) => void,
): Promise<RedisConnection> {
  const node = await locate(address, key);
  const connection = await createConnection(address, node, address.account, address.database);
  connection.on("error", onLost);
  return await connection.connect();
}

async function locate(address: RedisAddress, key: string): Promise<RedisNode> {
  const { kind, nodes, account, primary = "", sentinelAccount } = address;
  const [first] = nodes;
  if (kind === "server" && first !== undefined) return first;
  const ask = async (node: RedisNode) => {
    const connection = await createConnection(address, node, kind === "sentinel" ? sentinelAccount : account, 0);
    connection.on("error", () => {});
    try {
      await connection.connect();
      return await (kind === "sentinel" ? primaryOf(connection, primary) : nodeOf(connection, key, node));
    } finally {
      if (connection.isOpen) connection.destroy();
    }
  };
  try {
    return await Promise.any(nodes.map(ask));
  } catch (failure) {
    throw failure instanceof AggregateError ? failure.errors[0] : failure;
  }
}

async function primaryOf(sentinel: RedisConnection, name: string): Promise<RedisNode> {
  const answer = (await sentinel.sendCommand(["SENTINEL", "GET-MASTER-ADDR-BY-NAME", name])) as [string, string] | null;
  if (answer === null) throw new Error("the Sentinel does not know the primary that REDIS_URL names");
  return { host: answer[0], port: Number(answer[1]) };
}

/** A node of a cluster may report an empty host, which means the one that was asked. */
async function nodeOf(connection: RedisConnection, key: string, node: RedisNode): Promise<RedisNode> {
  const slot = (await connection.sendCommand(["CLUSTER", "KEYSLOT", key])) as unknown as number;
  const ranges = (await connection.sendCommand(["CLUSTER", "SLOTS"])) as unknown as [
    number,
    number,
    [string, number],
  ][];
  const range = ranges.find(([start, end]) => start <= slot && slot <= end);
  if (range === undefined) throw new Error(`no node of the Redis cluster serves slot ${slot}`);
  const [host, port] = range[2];
  return { host: host || node.host, port };
}

async function createConnection(
  { tls }: RedisAddress,
  { host, port }: RedisNode,
  { username, password }: RedisAccount,
  database: number,
): Promise<RedisConnection> {
  const socket = { host, port, connectTimeout: CONNECT_TIMEOUT_MS, reconnectStrategy: false } as const;
  return createClient({
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password: password.reveal() }),
    database,
    // What cannot be sent now is decided without the store, not later with it.
    disableOfflineQueue: true,
    socket: tls === undefined ? socket : { ...socket, tls: true, ...(await readCertificates(tls)) },
  });
}

/** Read for each connection: renewed certificates take effect without a restart. */
async function readCertificates(files: NonNullable<RedisAddress["tls"]>) {
  const read = Object.entries(files).map(async ([name, path]) => [name, await readFile(path)] as const);
  return Object.fromEntries(await Promise.all(read));
}
