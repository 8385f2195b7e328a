/** An MCP server of 2025 over standard input and output that writes what its caller asks for, also far too much of it. */

import { createInterface } from "node:readline";

interface Message {
  id?: number;
  method?: string;
  params?: { name?: string; arguments?: { kind?: string; size?: number }; protocolVersion?: string };
}

const write = (line: string) => process.stdout.write(`${line}\n`);
const writeJson = (message: object) => write(JSON.stringify({ jsonrpc: "2.0", ...message }));
const text = (value: string) => JSON.stringify({ content: [{ type: "text", text: value }] });
/** Answers of others that wait until `release` is called. */
const held: number[] = [];

/** Lines of `size` characters, which differ in where the ID of the request is. */
const LARGE: Record<string, (id: number, value: string) => string> = {
  first: (id, value) => `{"jsonrpc":"2.0","id":${id},"result":${text(value)}}`,
  last: (id, value) => `{"result":${text(value)},"jsonrpc":"2.0","id":${id}}`,
  hidden: (id, value) => `{"result":${text(value)},"id":${id},"jsonrpc":"2.0","more":{"id":0}}`,
  notification: (id, value) =>
    [
      `{"method":"notifications/message","params":{"level":"info","data":"${value}"},"jsonrpc":"2.0"}`,
      `{"jsonrpc":"2.0","id":${id},"result":${text("after a large notification")}}`,
    ].join("\n"),
};

/** The call that waits for answers to the server's own questions. */
let asking: { id: number; open: number } | undefined;

const TOOLS: Record<string, (id: number, kind: string, size: number) => void> = {
  large: (id, kind, size) => write(LARGE[kind]?.(id, "x".repeat(size)) ?? ""),
  quick: (id) => writeJson({ id, result: JSON.parse(text("quick")) }),
  hold: (id) => void held.push(id),
  release: (id) => {
    for (const each of [...held.splice(0), id]) writeJson({ id: each, result: JSON.parse(text("released")) });
  },
  notify: (id, _, size) => {
    for (let count = 0; count < size; count += 1) writeJson({ method: "notifications/progress", params: {} });
    writeJson({ id, result: JSON.parse(text("notified")) });
  },
  ask: (id, _, size) => {
    asking = { id, open: size };
    writeJson({ id: size, method: "roots/list" });
  },
};

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params = {} } = JSON.parse(line) as Message;
  const { protocolVersion, name = "", arguments: { kind = "", size = 0 } = {} } = params;
  if (method === undefined && asking !== undefined) {
    asking.open -= 1;
    if (asking.open > 0) writeJson({ id: asking.open, method: "roots/list" });
    else writeJson({ id: asking.id, result: JSON.parse(text("answered")) });
  }
  if (id === undefined || method === undefined) return;
  const capabilities = { tools: {}, logging: {} };
  if (method === "tools/call") TOOLS[name]?.(id, kind, size);
  else if (method === "initialize") {
    writeJson({ id, result: { protocolVersion, capabilities, serverInfo: { name: "raw", version: "1" } } });
  } else writeJson({ id, error: { code: -32601, message: `No ${method}` } });
});
