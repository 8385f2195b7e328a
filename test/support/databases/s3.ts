/** An S3-compatible server for tests, versitygw, if it is installed. */

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "../service/eventually.ts";
import { freePort } from "./redis.ts";

const PROGRAM = "versitygw";

export const HAS_S3: boolean = spawnSync(PROGRAM, ["--version"]).status === 0;
export const WITHOUT_S3: string = HAS_S3 ? "" : " (skipped: no versitygw on this machine)";

export interface S3Server {
  endpoint: string;
  bucket: string;
  environment: { AWS_ACCESS_KEY_ID: string; AWS_SECRET_ACCESS_KEY: string };
  /** Folder with the objects of the bucket. */
  folder: string;
  [Symbol.asyncDispose](): Promise<void>;
}

export async function startS3(): Promise<S3Server> {
  const directory = mkdtempSync(join(tmpdir(), "parlance-s3-"));
  const bucket = "parlance-files";
  const folder = join(directory, "gateway", bucket);
  mkdirSync(folder, { recursive: true });
  const port = await freePort();
  const environment = { AWS_ACCESS_KEY_ID: "test-access", AWS_SECRET_ACCESS_KEY: "test-secret-of-the-store" };
  const keys = ["--access", environment.AWS_ACCESS_KEY_ID, "--secret", environment.AWS_SECRET_ACCESS_KEY];
  const args = [...keys, "--port", `127.0.0.1:${port}`, "posix", "--nometa", join(directory, "gateway")];
  const server = spawn(PROGRAM, args, { stdio: ["ignore", "ignore", "pipe"] });
  let log = "";
  server.stderr.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await eventually(async () => {
    if (server.exitCode !== null) throw new Error(`versitygw ended: ${log}`);
    await fetch(endpoint);
  });
  return {
    endpoint,
    bucket,
    environment,
    folder,
    [Symbol.asyncDispose]: async () => {
      const ended = new Promise((resolve) => server.once("exit", resolve));
      server.kill();
      await ended;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
