/**
 * Entry of a process that runs untrusted Python in WebAssembly. Reads requests from descriptor 4 and writes answers to
 * descriptor 3 (sandbox-messages.ts). The flags of its parent keep it from files, processes, threads, native code and
 * code from texts; this file takes away the rest of Node.js before the first request, because Python reaches JavaScript.
 * It waits for requests within a call of the system, so that nothing of the code runs between two of them.
 */

import { Buffer } from "node:buffer";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import { registerHooks, syncBuiltinESMExports } from "node:module";
import net from "node:net";
import type { SandboxAnswer, SandboxFile, TokenRequest } from "./sandbox-messages.ts";

const ANSWERS = 3;
/** Not standard input, which Pyodide reads and thereby makes non-blocking. */
const REQUESTS = 4;
const HEADER_BYTES = 4;
const FOLDER = "/mnt/data";
const SKILLS = "/mnt/skills";
const READ_ONLY = 0o444;
const READ_ONLY_FOLDER = 0o555;
const [, , pyodideUrl = "", indexUrl = "", maxOutput = "0", maxFileBytes = "0", maxFiles = "0"] = process.argv;
const MAX_OUTPUT_BYTES = Number(maxOutput);
const MAX_FILE_BYTES = Number(maxFileBytes);
const MAX_FILES = Number(maxFiles);

/** Globals of the language, and those that Pyodide needs. */
const LANGUAGE: ReadonlySet<string> = new Set([
  ...["Object", "Function", "Array", "Number", "parseFloat", "parseInt", "Infinity", "NaN", "undefined", "Boolean"],
  ...["String", "Symbol", "Date", "Promise", "RegExp", "Error", "AggregateError", "EvalError", "RangeError"],
  ...["ReferenceError", "SyntaxError", "TypeError", "URIError", "JSON", "Math", "Intl", "ArrayBuffer", "Uint8Array"],
  ...["Int8Array", "Uint16Array", "Int16Array", "Uint32Array", "Int32Array", "Float16Array", "Float32Array"],
  ...["Float64Array", "Uint8ClampedArray", "BigUint64Array", "BigInt64Array", "DataView", "Map", "BigInt", "Set"],
  ...["WeakMap", "WeakSet", "WeakRef", "Proxy", "Reflect", "FinalizationRegistry", "decodeURI", "isNaN", "isFinite"],
  ...["decodeURIComponent", "encodeURI", "encodeURIComponent", "Iterator", "globalThis", "WebAssembly", "console"],
  ...["setTimeout", "clearTimeout", "setImmediate", "clearImmediate", "queueMicrotask", "performance", "TextDecoder"],
  ...["TextEncoder", "crypto", "AbortController", "AbortSignal", "DOMException", "MessageChannel"],
]);

/** Runs a cell as a notebook does: the value of its last expression is a part of the output. */
const RUNNER = `
import os as _os, posix as _posix, sys as _sys, traceback as _traceback
from pyodide.code import eval_code_async as _evaluate
async def _run_cell(code, scope):
    try:
        value = await _evaluate(code, globals=scope, filename="<cell>")
        if value is not None:
            print(repr(value))
        return True
    except BaseException:
        kind, error, trace = _sys.exc_info()
        while trace is not None and trace.tb_frame.f_code.co_filename != "<cell>":
            trace = trace.tb_next
        _traceback.print_exception(kind, error, trace)
        return False
    finally:
        _sys.stdout.flush()
        _sys.stderr.flush()
def _refuse(*_arguments):
    raise OSError("The sandbox has no processes.")
# Emscripten ends the process instead.
_os.system = _posix.system = _refuse
for _name in ("pyodide_js", "js"):
    _sys.modules.pop(_name, None)
_run_cell
`;

let output = "";
let outputBytes = 0;
const decoder = new TextDecoder();
const write = (bytes: Uint8Array): number => {
  const room = MAX_OUTPUT_BYTES - outputBytes;
  if (room > 0) output += decoder.decode(bytes.subarray(0, room), { stream: true });
  outputBytes += bytes.length;
  return bytes.length;
};

// The permission model refuses the real one, of which Emscripten reads constants only.
Object.assign(process, { binding: () => ({ fs: fs.constants }) });
const { loadPyodide } = await import(pyodideUrl);
// Emscripten puts the path of the program into `sys.executable` and the variable `_`.
process.argv = ["python", "/usr/bin/python"];
const python = await loadPyodide({ indexURL: indexUrl, jsglobals: Object.create(null), env: { HOME: FOLDER } });
python.FS.mkdirTree(FOLDER);
python.FS.chdir(FOLDER);
python.setStdout({ write });
python.setStderr({ write });
python.setStdin({ stdin: () => null });
const runCell = python.runPython(RUNNER);
const scope = python.toPy({ __name__: "__main__" });
const { FS } = python;
const { readSync, writeSync } = fs;
const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
const decode = (text: string) => Buffer.from(text, "base64");

/** Paths that both processes have. */
const shared = new Set<string>();

disarm();
send("");
for (let request = receive(); request !== undefined; request = receive()) {
  const answer = await perform(request);
  send(`${request.token}${JSON.stringify(answer)}`);
}

async function perform(request: TokenRequest): Promise<SandboxAnswer> {
  let unwritten = "";
  for (const { path, base64 } of request.files) {
    if (put(path, decode(base64))) shared.add(path);
    else unwritten += `[${path} could not be written: a file or folder has its name.]\n`;
  }
  for (const path of request.removed) remove(path);
  mount(request.skills ?? []);
  const before = new Map(list().map(({ path, stamp }) => [path, stamp]));
  output = "";
  outputBytes = 0;
  const isDone: boolean = await runCell(request.code, scope);
  const files: SandboxFile[] = [];
  let bytes = 0;
  let leftOut = 0;
  for (const { path, size, stamp } of list()) {
    if (before.get(path) === stamp) continue;
    bytes += size;
    if (bytes > MAX_FILE_BYTES || files.length === MAX_FILES) leftOut += 1;
    else files.push({ path, base64: encode(FS.readFile(path)) });
  }
  const present = new Set(list().map(({ path }) => path));
  const removed = [...shared].filter((path) => before.has(path) && !present.has(path));
  for (const { path } of files) shared.add(path);
  if (unwritten !== "") write(Buffer.from(unwritten));
  return { isDone, output, outputBytes, files, removed, leftOut };
}

interface Entry {
  path: string;
  size: number;
  stamp: string;
}

function list(folder = FOLDER, depth = 0): Entry[] {
  const entries: Entry[] = [];
  for (const name of FS.readdir(folder)) {
    if (name === "." || name === "..") continue;
    const path = `${folder}/${name}`;
    const { mode, size, mtime } = FS.lstat(path);
    if (FS.isDir(mode) && depth < 8) entries.push(...list(path, depth + 1));
    else if (FS.isFile(mode)) entries.push({ path, size, stamp: `${size} ${Number(mtime)}` });
  }
  return entries;
}

/** Writes files that code only reads, in folders to which it adds and from which it removes nothing. */
function mount(files: readonly SandboxFile[]): void {
  const folders = new Set<string>();
  for (const { path, base64 } of files) {
    if (!put(path, decode(base64))) continue;
    FS.chmod(path, READ_ONLY);
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1)) {
      folders.add(path.slice(0, end));
    }
  }
  for (const folder of folders) if (folder.startsWith(`${SKILLS}/`)) FS.chmod(folder, READ_ONLY_FOLDER);
}

/** Returns false where a file is in the place of a folder, or a folder in that of the file. */
function put(path: string, bytes: Uint8Array): boolean {
  try {
    FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
    FS.writeFile(path, bytes);
    return true;
  } catch {
    return false;
  }
}

function remove(path: string): void {
  try {
    FS.unlink(path);
  } catch {
    // The code has removed it.
  }
}

function send(message: string): void {
  const body = Buffer.from(message);
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(body.length);
  for (const bytes of [header, body]) {
    for (let start = 0; start < bytes.length; ) start += writeSync(ANSWERS, bytes, start);
  }
}

/** Waits for the next request; undefined once the service has closed the pipe. */
function receive(): TokenRequest | undefined {
  const header = readBytes(HEADER_BYTES);
  const body = header && readBytes(header.readUInt32LE());
  return body && JSON.parse(body.toString("utf8"));
}

function readBytes(length: number): Buffer | undefined {
  const bytes = Buffer.alloc(length);
  for (let start = 0; start < length; ) {
    const count = readSync(REQUESTS, bytes, start, length - start, null);
    if (count === 0) return undefined;
    start += count;
  }
  return bytes;
}

/** Takes away imports, the network and every global that is not of the language. */
function disarm(): void {
  const refuse = (): never => {
    throw new Error("This is not available in the sandbox.");
  };
  const block = (target: object, names: readonly string[]) => {
    for (const name of names) {
      if (name in target) Object.defineProperty(target, name, { value: refuse, writable: false, configurable: false });
    }
  };
  registerHooks({ resolve: refuse, load: refuse });
  const functionsOf = (target: object) =>
    Object.keys(target).filter((name) => typeof Reflect.get(target, name) === "function");
  // Emscripten's file system of the host writes to any descriptor.
  block(fs.promises, functionsOf(fs.promises));
  block(fs, functionsOf(fs));
  block(net.Socket.prototype, ["connect"]);
  block(net.Server.prototype, ["listen"]);
  block(net, ["connect", "createConnection", "createServer", "_createServerHandle", "Socket", "Server", "Stream"]);
  block(dgram.Socket.prototype, ["bind", "connect", "send"]);
  block(dgram, ["createSocket", "_createSocketHandle", "Socket"]);
  block(dns, Object.keys(dns));
  block(dns.promises, Object.keys(dns.promises));
  block(process, [
    ...["binding", "_linkedBinding", "getBuiltinModule", "dlopen", "kill", "_kill", "chdir", "abort", "reallyExit"],
    ...["_debugProcess", "_startProfilerIdleNotifier", "setuid", "setgid", "openStdin", "loadEnvFile", "execve"],
  ]);
  syncBuiltinESMExports();
  process.env = {};
  for (const name of Object.getOwnPropertyNames(globalThis)) {
    if (!LANGUAGE.has(name)) Reflect.deleteProperty(globalThis, name);
  }
  for (const name of ["prepareStackTrace", "captureStackTrace"] as const) {
    const value = name === "prepareStackTrace" ? undefined : Error[name];
    Object.defineProperty(Error, name, { value, writable: false, configurable: false });
  }
  freezeLanguage();
}

/** A changed method of the language would get the objects that this process works with. */
function freezeLanguage(): void {
  for (const name of LANGUAGE) {
    const value: unknown = Reflect.get(globalThis, name);
    if (name === "globalThis" || (typeof value !== "function" && typeof value !== "object") || value === null) continue;
    if (typeof value === "function" && value.prototype) harden(value.prototype);
    // Pyodide sets the limit of stack traces.
    if (value !== Error) Object.freeze(value);
  }
  for (const iterable of [[], new Map(), new Set(), "", (function* () {})()]) {
    const iterator = iterable[Symbol.iterator]?.();
    if (iterator) freezePrototypes(iterator);
  }
  for (const made of [async () => {}, function* () {}, async function* () {}, new Uint8Array()]) freezePrototypes(made);
}

function freezePrototypes(value: object): void {
  for (let each = Object.getPrototypeOf(value); each; each = Object.getPrototypeOf(each)) Object.freeze(each);
}

/** Freezes a prototype; objects that inherit from it may still have properties of the same names. */
function harden(prototype: object): void {
  const { defineProperty } = Object;
  for (const key of Reflect.ownKeys(prototype)) {
    const { value, writable, configurable } = Object.getOwnPropertyDescriptor(prototype, key) ?? {};
    if (writable !== true || configurable !== true) continue;
    defineProperty(prototype, key, {
      get: () => value,
      set(this: object, next: unknown) {
        if (this === prototype) throw new TypeError("Methods of the language cannot be changed in the sandbox.");
        defineProperty(this, key, { value: next, writable: true, enumerable: true, configurable: true });
      },
      configurable: false,
    });
  }
  Object.freeze(prototype);
}
