/** Reads endpoints from a file that other programs replace. */

import { open } from "node:fs/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Discover, Discovered, FileSource } from "./endpoint.ts";
import { parseEndpoints } from "./parse-endpoints.ts";

const MAX_BYTES = 1024 * 1024;
/** Time within which a program that writes the file in place has written the rest. */
const SETTLE_MS = 50;

/**
 * Reads the file at each call: it is small, and notifications of changes are missing on network file systems and for
 * the links of a Kubernetes ConfigMap.
 */
export function fileEndpoints({ path, defaultPort }: FileSource): Discover {
  let lastRead: { text: string; discovered: Discovered } | undefined;
  return async () => {
    const text = await readText(path);
    if (lastRead?.text === text) return lastRead.discovered;
    await pause(SETTLE_MS);
    if ((await readText(path)) !== text) throw new Error(`${path} is being written`);
    const discovered = parse(path, text, defaultPort);
    lastRead = { text, discovered };
    return discovered;
  };
}

function parse(path: string, text: string, defaultPort: number): Discovered {
  try {
    const endpoints = parseEndpoints(text, defaultPort);
    return { endpoints, reason: endpoints.length === 0 ? `${path} lists no endpoints` : undefined };
  } catch (error) {
    throw new Error(`${path} ${(error as Error).message}`);
  }
}

async function readText(path: string): Promise<string> {
  try {
    await using file = await open(path);
    const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_BYTES + 1), 0, MAX_BYTES + 1, 0);
    if (bytesRead > MAX_BYTES) throw new Error(`${path} is larger than ${MAX_BYTES} bytes`);
    return buffer.toString("utf8", 0, bytesRead);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw code === undefined ? error : new Error(`${path} cannot be read (${code})`);
  }
}
