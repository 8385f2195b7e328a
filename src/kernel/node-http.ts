/**
 * Node's HTTP module. `import … from "node:http"` would read all of its exports, among them WebSocket, for which Node loads
 * its copy of undici: some 30 ms of CPU time at each start.
 */
export const http = process.getBuiltinModule("node:http");
