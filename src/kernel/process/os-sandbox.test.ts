/** What a confined program can do without any layer of JavaScript: everything that Node.js allows. */

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, describe, expect, test } from "vitest";
import { OS_SANDBOX } from "../../../test/support/service/os-sandbox.ts";
import { runWithoutDescriptors } from "../../../test/support/service/without-descriptors.ts";
import { Child } from "./child.ts";

// Its parents are visible, and /dev must not be: other temporary files may be in /dev/shm.
const folder = mkdtempSync("/tmp/parlance-sandbox-");
afterAll(() => rmSync(folder, { recursive: true }));

const MEGABYTE = 1024 ** 2;

async function runConfined(code: string) {
  const file = join(folder, "program.mjs");
  writeFileSync(file, code);
  const child = new Child({
    program: process.execPath,
    args: [file],
    environment: { PATH: process.env.PATH, SECRET: "hidden-value" },
    stdio: ["ignore", "pipe", "pipe"],
    confinement: OS_SANDBOX?.confine([folder], 64 * MEGABYTE),
  });
  const [output, errors] = await Promise.all([text(child.output(1)), text(child.output(2))]);
  return { output, errors, end: await child.ended };
}

describe.runIf(OS_SANDBOX !== undefined)("a confined program", () => {
  test("computes, and sees its own files only", async () => {
    const { output, errors } = await runConfined(`
      import fs from "node:fs";
      const list = (path) => { try { return fs.readdirSync(path) } catch (error) { return error.code } };
      console.log(JSON.stringify({
        own: list(${JSON.stringify(folder)}), etc: list("/etc"), proc: list("/proc"), dev: list("/dev"),
        environment: Object.keys(process.env), pid: process.pid, uid: process.getuid(),
      }));
    `);
    expect(errors).toBe("");
    const seen = JSON.parse(output);
    expect(seen).toMatchObject({ own: ["program.mjs"], etc: "ENOENT", proc: "ENOENT", dev: "ENOENT", pid: 2 });
    expect(seen.environment).not.toContain("SECRET");
    expect(seen.uid).toBe(65_534);
  });

  test.each([
    ["write a file", `fs.writeFileSync("/file", "x")`, "EROFS"],
    ["write beside its program", `fs.writeFileSync(${JSON.stringify(join(folder, "x"))}, "x")`, "EROFS"],
    ["start a process", `throwIfFailed(childProcess.spawnSync(process.execPath, ["--version"]))`, "EPERM"],
    ["see another process", `process.kill(${process.pid}, 0)`, "ESRCH"],
  ])("cannot %s", async (_what, attempt, code) => {
    const { output } = await runConfined(`
      import childProcess from "node:child_process";
      import fs from "node:fs";
      const throwIfFailed = ({ error }) => { if (error) throw error };
      try { ${attempt}; console.log("ESCAPED") } catch (error) { console.log(error.code) }
    `);
    expect(output).toBe(`${code}\n`);
  });

  test("has no sockets, not even of its own network", async () => {
    let connections = 0;
    const server = createServer(() => {
      connections += 1;
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const { output } = await runConfined(`
      import dgram from "node:dgram";
      import net from "node:net";
      net.connect(${port}, "127.0.0.1").on("connect", () => console.log("ESCAPED")).on("error", ({ code }) => console.log(code));
      net.createServer().listen(0).on("listening", () => console.log("ESCAPED")).on("error", ({ code }) => console.log(code));
      dgram.createSocket("udp4").bind(0).on("listening", () => console.log("ESCAPED")).on("error", ({ code }) => console.log(code));
    `);
    server.close();
    expect(output.trim().split("\n")).toEqual(["EPERM", "EPERM", "EPERM"]);
    expect(connections).toBe(0);
  });

  test("gets no memory beyond its limit", async () => {
    const { output } = await runConfined(`
      import fs from "node:fs";
      const blocks = [];
      for (let count = 1; count < 100; count += 1) {
        blocks.push(Buffer.alloc(16 * ${MEGABYTE}, 1));
        fs.writeSync(1, count + "\\n");
      }
    `);
    const megabytes = 16 * Number(output.trim().split("\n").at(-1));
    expect(megabytes).toBeGreaterThanOrEqual(64);
    expect(megabytes).toBeLessThan(640);
  });

  test("ends with the process that started it", async () => {
    const [sandbox, child] = ["./os-sandbox.ts", "./child.ts"].map((name) => new URL(name, import.meta.url).href);
    const entry = join(folder, "endless.mjs");
    writeFileSync(entry, `import fs from "node:fs"; fs.writeSync(1, "started"); for (;;);`);
    const code = `
      import { findOsSandbox } from "${sandbox}";
      import { Child } from "${child}";
      const { sandbox } = await findOsSandbox();
      new Child({
        program: process.execPath, args: [${JSON.stringify(entry)}], environment: { PATH: process.env.PATH },
        stdio: ["ignore", "inherit", "ignore"], confinement: sandbox.confine([${JSON.stringify(folder)}], 0),
      });
    `;
    const starter = new Child({
      program: process.execPath,
      args: ["--input-type=module", "--eval", code],
      environment: { PATH: process.env.PATH },
      stdio: ["ignore", "pipe", "ignore"],
    });
    let output = "";
    // The stream ends once the confined process, which has it too, has ended.
    for await (const chunk of starter.output(1)) {
      output += chunk;
      starter.kill();
    }
    expect(output).toBe("started");
  });

  test("is not taken for missing while there are no file descriptors to look for it", async () => {
    const outcome = await runWithoutDescriptors(`
      const { findOsSandbox } = await import("${new URL("./os-sandbox.ts", import.meta.url).href}");
      const release = exhaust();
      const failure = await failureOf(findOsSandbox);
      release();
      const { problem } = await findOsSandbox();
      report({ failure, problem });
    `);
    expect(outcome).toEqual({ failure: { name: "Fault", code: "server_is_overloaded" } });
  });
});
