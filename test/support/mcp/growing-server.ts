/** An MCP server over standard input and output that starts a process, from a thread, which takes 700 MB of memory. */

import { Worker } from "node:worker_threads";
import { McpServer } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const GROW = "const all = Array.from({ length: 700 }, () => Buffer.alloc(1e6, 1)); setInterval(() => all, 1000)";
const START = `
const { spawn } = require("node:child_process");
const { writeFileSync } = require("node:fs");
const child = spawn(process.execPath, ["--eval", ${JSON.stringify(GROW)}], { stdio: "ignore" });
writeFileSync(process.env.PID_FILE, String(child.pid));
`;

serveStdio(() => {
  const server = new McpServer({ name: "growing", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.registerTool("grow", { description: "Starts a process that takes memory" }, () => {
    new Worker(START, { eval: true });
    return new Promise(() => {});
  });
  return server;
});
