/** Reads and writes `recordings/`, one file per client. */

import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import type { Recording } from "./recorded-request.ts";

const FOLDER = resolve(import.meta.dirname, "recordings");

export async function writeRecording({ client, version, requests }: Recording): Promise<void> {
  await mkdir(FOLDER, { recursive: true });
  // One request per line: a new version of a client shows as the lines that it changed.
  const lines = requests.map((request) => JSON.stringify(request));
  const text = `{\n"client": "${client}",\n"version": "${version}",\n"requests": [\n${lines.join(",\n")}\n]\n}\n`;
  // Packages of several scopes are called `openai`.
  await writeFile(join(FOLDER, `${client.replace(/^@/, "").replaceAll("/", "__")}.json`), text);
}

export async function readRecordings(): Promise<Recording[]> {
  const files = (await readdir(FOLDER)).sort();
  return Promise.all(files.map(async (file) => JSON.parse(await readFile(join(FOLDER, file), "utf8")) as Recording));
}
