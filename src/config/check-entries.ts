/** Checks what entries of the API may contain in addition to what the schema allows the file. */

import { isIP } from "node:net";
import { addressClass } from "../kernel/outgoing/address-class.ts";
import type { ConfigErrors, Path } from "./config-errors.ts";
import type { LayerEntry } from "./layer.ts";
import { asMapping, listAt } from "./parse-file.ts";

/** Engines whose settings name no program of the service's machine. */
const ENGINES: ReadonlySet<string> = new Set([
  "anthropic",
  "classifier",
  "flite",
  "kokoro",
  "llama-cpp",
  "moonshine",
  "openai-compatible",
  "scripted",
  "sentence-embeddings",
  "whisper",
]);

const IN_FILE_ONLY = "is set in parlance.yaml only";

/** Keys whose values are paths on the service's machine, or lead connections past the guard of outgoing connections. */
const FILE_KEY = /^(file|files|lora|proxy|[a-z_]+_file)$/;

export interface EntryRules {
  /** Whether entries may name programs that the service runs as MCP servers. */
  allowsCommands: boolean;
}

/** Entries are not the operator's: they may neither read the machine's files and environment nor run its programs. */
export function checkEntries(paths: ReadonlyMap<LayerEntry, Path>, errors: ConfigErrors, rules: EntryRules): void {
  for (const [{ kind, name, value }, path] of paths) {
    refuseVariables(value, path, errors);
    if (kind === "connection") checkUpstream(value, path, errors);
    if (kind === "mcp_server") checkMcpServer(value, path, errors, rules);
    if (kind === "model") {
      listAt(value, "deployments").forEach((deployment, index) => {
        checkDeployment(deployment, [...path, "deployments", index], errors);
      });
    }
    if (kind === "setting" && name === "prices") {
      listAt(value, "lists").forEach((list, index) => {
        if (list !== "builtin") errors.add([...path, "lists", index], `names a file, which ${IN_FILE_ONLY}`);
      });
    }
  }
}

function checkDeployment(deployment: unknown, path: Path, errors: ConfigErrors): void {
  const { engine, connection } = asMapping(deployment) ?? {};
  if (typeof engine === "string" && !ENGINES.has(engine)) {
    errors.add([...path, "engine"], `${IN_FILE_ONLY}; the API accepts ${[...ENGINES].join(", ")}`);
  } else if (engine === undefined && connection === undefined) {
    errors.add([...path, "engine"], "is required, or `connection`");
  }
  checkUpstream(deployment, path, errors);
}

function checkUpstream(value: unknown, path: Path, errors: ConfigErrors): void {
  refuseFiles(value, path, errors);
  checkAddress(asMapping(value)?.base_url, [...path, "base_url"], errors);
}

function checkMcpServer(value: unknown, path: Path, errors: ConfigErrors, { allowsCommands }: EntryRules): void {
  const { url, openapi, command, oauth } = asMapping(value) ?? {};
  checkAddress(url, [...path, "url"], errors);
  checkAddress(openapi, [...path, "openapi"], errors);
  if (typeof openapi === "string" && !/^https?:\/\//i.test(openapi)) {
    errors.add([...path, "openapi"], `names a file, which ${IN_FILE_ONLY}`);
  }
  checkAddress(asMapping(oauth)?.issuer, [...path, "oauth", "issuer"], errors);
  if (command === undefined || allowsCommands) return;
  errors.add([...path, "command"], `runs a program and ${IN_FILE_ONLY}, unless the file has \`mcp: {commands: live}\``);
}

function checkAddress(address: unknown, path: Path, errors: ConfigErrors): void {
  const host = typeof address === "string" ? URL.parse(address)?.hostname.replace(/^\[|\]$/g, "") : undefined;
  if (host !== undefined && isIP(host) !== 0 && addressClass(host) === "forbidden") {
    errors.add(path, "is a link-local or reserved address, to which connections never go");
  }
}

function refuseFiles(value: unknown, path: Path, errors: ConfigErrors): void {
  for (const [key, inner] of entriesOf(value)) {
    const at = [...path, key];
    if (typeof key === "string" && FILE_KEY.test(key)) errors.add(at, IN_FILE_ONLY);
    else refuseFiles(inner, at, errors);
  }
}

/** A variable of the service's environment would reach whatever address the entry names. */
function refuseVariables(value: unknown, path: Path, errors: ConfigErrors): void {
  if (typeof value === "string" && /\$\{/.test(value)) {
    errors.add(path, `refers to an environment variable, which is possible in parlance.yaml only; write the value`);
  }
  for (const [key, inner] of entriesOf(value)) refuseVariables(inner, [...path, key], errors);
}

function entriesOf(value: unknown): [string | number, unknown][] {
  if (Array.isArray(value)) return value.map((item, index) => [index, item]);
  return Object.entries(asMapping(value) ?? {});
}
