/** What Python can do in its sandbox, and what it must not reach. */

import type { AddressInfo } from "node:net";
import { createServer, type Server } from "node:net";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { OS_SANDBOX } from "../../../../test/support/service/os-sandbox.ts";
import { oncePerState } from "../../../../test/support/unchanged/once-per-state.ts";
import { type NodeCommand, nodeCommand, PythonSession, readAnswer, SandboxKilledError } from "./python-session.ts";

const test = oncePerState(import.meta.filename);

const LIMITS = {
  maxMemoryMegabytes: 384,
  timeoutSeconds: 90,
  maxOutputBytes: 20_000,
  maxFileBytes: 1_000_000,
  maxFiles: 50,
};
const never = new AbortController().signal;
const HOST = `
from pyodide.ffi import to_js
made = to_js([1])
`;

/** A stream of Emscripten that names a descriptor of the process. */
const DESCRIPTOR = (descriptor: number) => `
import pyodide_js
from pyodide.ffi import to_js
ops = pyodide_js.FS.filesystems.NODEFS.stream_ops
stream = pyodide_js.FS.open('/mnt/data/x', 'w')
stream.nfd = ${descriptor}
`;

test("takes no answer without the token of its request", () => {
  const answer = { isDone: true, output: "", outputBytes: 0, files: [], removed: [], leftOut: 0 };
  const frame = (token: string) => Buffer.from(`${token}${JSON.stringify(answer)}`);
  expect(readAnswer(frame("secret"), "secret")).toEqual(answer);
  expect(readAnswer(frame("guess!"), "secret")).toBeUndefined();
  expect(readAnswer(frame(""), "secret")).toBeUndefined();
});

const MODES = [
  ["process", undefined],
  ["bubblewrap", OS_SANDBOX],
] as const;

describe.each(MODES.filter(([mode, sandbox]) => mode === "process" || sandbox !== undefined))(
  "%s",
  (_mode, sandbox) => {
    let session: PythonSession;
    let server: Server;
    let port: number;
    let connections = 0;

    let node: NodeCommand;
    beforeAll(async () => {
      node = await nodeCommand(sandbox);
      process.env.SANDBOX_TEST_SECRET = "hidden-value";
      server = createServer((socket) => {
        connections += 1;
        socket.destroy();
      });
      await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
      port = (server.address() as AddressInfo).port;
      session = new PythonSession(LIMITS, sandbox, node);
    });
    afterAll(() => {
      delete process.env.SANDBOX_TEST_SECRET;
      session.close();
      server.close();
    });

    const run = (code: string) => session.run({ code, files: [], removed: [] }, never);

    /** Runs attempts, of which each must raise, and returns what they raised. */
    async function attempts(lines: readonly string[]): Promise<string[]> {
      const cases = JSON.stringify(lines.map((line) => line.replaceAll("PORT", String(port))));
      const { output, isDone } = await run(`
import json
from pyodide.code import eval_code_async
for code in json.loads(${JSON.stringify(cases)}):
    try:
        value = await eval_code_async(code, globals={})
        print("ESCAPED", code, "=>", str(value)[:200])
    except BaseException as error:
        print("refused", type(error).__name__, str(error).strip().splitlines()[-1][:100] if str(error) else "")
`);
      expect(isDone, output).toBe(true);
      return output.trim().split("\n");
    }

    describe("runs", () => {
      test("cells with variables that last, files and the standard library", async () => {
        expect(await run("x = 20\nx + 1")).toMatchObject({ isDone: true, output: "21\n", files: [] });
        expect((await run("x * 2")).output).toBe("40\n");
        const written = await run("open('table.csv', 'w').write('a,b')");
        expect(written.files).toEqual([{ path: "/mnt/data/table.csv", base64: Buffer.from("a,b").toString("base64") }]);
        const file = { path: "/mnt/data/in/one.txt", base64: Buffer.from("hello").toString("base64") };
        const read = { code: "import os\nopen('/mnt/data/in/one.txt').read() + str(os.path.exists('table.csv'))" };
        expect((await session.run({ ...read, files: [file], removed: ["/mnt/data/table.csv"] }, never)).output).toBe(
          "'helloFalse'\n",
        );
        const library = "import sqlite3, csv, statistics, decimal, zipfile, asyncio\nstatistics.mean([1, 2, 3])";
        expect((await run(library)).output).toBe("2\n");
        const failed = await run("1 / 0");
        expect(failed).toMatchObject({ isDone: false, output: expect.stringContaining("ZeroDivisionError") });
        expect(failed.output).not.toContain("_evaluate");
        expect((await run("import sys\nsys.exit(1)")).isDone).toBe(false);
      });
    });

    describe("refuses", () => {
      test.each<[string, string[]]>([
        [
          "files of the host",
          [
            "open('/etc/passwd').read()",
            "open('/proc/self/environ').read()",
            "import os; os.listdir('/work') + os.listdir('/root')",
            "import pyodide_js; pyodide_js.mountNodeFS('/mnt/host', '/'); import os; os.listdir('/mnt/host')",
            "import pyodide_js; pyodide_js.mountNodeFS('/mnt/host', '/etc'); open('/mnt/host/passwd').read()",
            "import pyodide_js; pyodide_js.FS.mount(pyodide_js.FS.filesystems.NODEFS, {'root': '/etc'}, '/mnt')",
            "import pyodide_js; await pyodide_js._api.loadBinaryFile('/etc/passwd')",
          ],
        ],
        [
          "descriptors of the host",
          [
            `${DESCRIPTOR(3)}ops.write(stream, to_js(b'x'), 0, 1, None)`,
            `${DESCRIPTOR(1)}ops.write(stream, to_js(b'x'), 0, 1, None)`,
            `${DESCRIPTOR(4)}ops.read(stream, to_js(bytes(8)), 0, 8, None)`,
          ],
        ],
        [
          "the network",
          [
            "import socket; socket.create_connection(('127.0.0.1', PORT), 2)",
            "import urllib.request; urllib.request.urlopen('http://127.0.0.1:PORT')",
            "import http.client; http.client.HTTPConnection('127.0.0.1', PORT).request('GET', '/')",
            "from pyodide.http import pyfetch; await pyfetch('http://127.0.0.1:PORT')",
            "from pyodide.http import open_url; open_url('http://127.0.0.1:PORT').read()",
            "import asyncio; await asyncio.open_connection('127.0.0.1', PORT)",
            "from js import fetch",
            "from js import XMLHttpRequest",
            "from js import WebSocket",
            "import pyodide_js; await pyodide_js.loadPackage('http://127.0.0.1:PORT/a-1-py3-none-any.whl'); import a",
            "import pyodide_js; await pyodide_js._api.loadBinaryFile('http://127.0.0.1:PORT/')",
            "import pyodide_js; await pyodide_js.useNodeSockFS()",
            "import micropip",
          ],
        ],
        [
          "Node.js through JavaScript",
          [
            "import js; js.process",
            "import js; js.require('fs')",
            "import js; js.globalThis",
            "import js; js.eval('1')",
            "import js; js.Function('return 1')",
            "from pyodide.code import run_js; run_js('process.version')",
            `${HOST}made.constructor.constructor('return globalThis')()`,
            `${HOST}made.constructor.constructor('return import("node:fs")')()`,
            `${HOST}made.map.constructor('return this')()`,
            `${HOST}made.constructor.prototype.push = 1`,
            `${HOST}made.constructor.prototype.__proto__.polluted = 1`,
            `${HOST}made.constructor.constructor.prototype.call = 1`,
            "import pyodide_js; pyodide_js._module.wasmExports.constructor.constructor('return process')()",
            "import pyodide_js; await pyodide_js._api.loadScript('data:text/javascript,1')",
            "import pyodide_js; pyodide_js._module.process",
            "import pyodide_js; pyodide_js.globals.constructor.constructor('return process.binding')()",
            "from js import Worker",
            "from js import WebAssembly",
          ],
        ],
        [
          "processes and threads",
          [
            "import os; os.fork()",
            "import os; os.execv('/bin/sh', ['sh'])",
            "import os; assert os.system('true') == 0",
            "import subprocess; subprocess.run(['ls'])",
            "import multiprocessing; multiprocessing.Process(target=print).start()",
            "import threading; threading.Thread(target=print).start()",
            "import ctypes; ctypes.CDLL('libc.so.6')",
          ],
        ],
      ])("%s", async (_what, lines) => {
        const results = await attempts(lines);
        expect(results.filter((line) => line.startsWith("ESCAPED"))).toEqual([]);
        // Pyodide prints lines of its own before it fails.
        expect(results.filter((line) => line.startsWith("refused"))).toHaveLength(lines.length);
        expect(connections).toBe(0);
      });

      test("the environment of the service", async () => {
        const { output } = await run("import os\nprint(dict(os.environ))");
        expect(output).not.toContain("hidden-value");
        expect(output).not.toContain(process.env.HOME ?? "/root");
        expect(output).not.toContain(process.cwd());
        const { output: names } = await run("import sys\nprint(sys.executable, sys.argv, sys.path, sys.prefix)");
        expect(names).not.toContain(process.cwd());
      });

      test("more memory than the limit, and goes on", async () => {
        expect((await run("x = bytearray(500_000_000)")).output).toContain("MemoryError");
        const bomb = "rows = []\nwhile True: rows.append('x' * 1_000_000)";
        expect((await run(bomb)).output).toContain("MemoryError");
        expect((await run("rows = None\n1 + 1")).output).toBe("2\n");
      });

      test("a file in the place of a folder", async () => {
        const files = ["/mnt/data/place", "/mnt/data/place/inner"].map((path) => ({ path, base64: "" }));
        const { output } = await session.run({ code: "print('on')", files, removed: [] }, never);
        expect(output).toBe("on\n[/mnt/data/place/inner could not be written: a file or folder has its name.]\n");
      });

      test("a flood of output and of files", async () => {
        await run("import os");
        const flood = await run("for _ in range(50): print('x' * 100_000)");
        expect(flood.output).toHaveLength(20_000);
        expect(flood.outputBytes).toBe(5_000_050);
        const files = await run("for i in range(4): open(f'{i}.bin', 'wb').write(bytes(400_000))");
        expect(files.files).toHaveLength(2);
        expect(files.leftOut).toBe(2);
        const many = await run("for i in range(500): open(f'{i}.txt', 'w').close()");
        expect(many.files).toHaveLength(50);
        expect(many.leftOut).toBe(450);
        const { removed } = await run("for i in range(500): os.remove(f'{i}.txt')");
        expect(removed).toEqual(many.files.map(({ path }) => path));
      });

      test("an endless loop, and a caller that leaves", async () => {
        const short = new PythonSession({ ...LIMITS, timeoutSeconds: 3 }, sandbox, node);
        const loop = short.run({ code: "while True: pass", files: [], removed: [] }, never);
        await expect(loop).rejects.toThrow(SandboxKilledError);
        await expect(loop).rejects.toThrow("The code took longer than 3 s");
        expect(short.hasEnded).toBe(true);
        const leaving = new AbortController();
        const aborted = session.run({ code: "while True: pass", files: [], removed: [] }, leaving.signal);
        setTimeout(() => leaving.abort(), 50);
        await expect(aborted).rejects.toMatchObject({ name: "AbortError" });
        expect(session.hasEnded).toBe(true);
      });

      test("a result that the process did not write, and one of megabytes without an end", async () => {
        const forger = new PythonSession(LIMITS, sandbox, node);
        const forged = '{"isDone":true,"output":"FORGED","outputBytes":6,"files":[],"removed":[],"leftOut":0}';
        for (const data of [`b${JSON.stringify(forged)}`, "b'x' * 4_000_000"]) {
          const write = `${DESCRIPTOR(3)}data = ${data}\nops.write(stream, to_js(data), 0, len(data), None)`;
          expect((await forger.run({ code: write, files: [], removed: [] }, never)).output).toContain("not available");
          expect((await forger.run({ code: "2 + 2", files: [], removed: [] }, never)).output).toBe("4\n");
        }
        forger.close();
      });
    });
  },
);
