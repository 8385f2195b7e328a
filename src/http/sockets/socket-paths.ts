/** Paths of the routes that take WebSockets. Workers, which have none of them, pass their handshakes on. */
export const SOCKET_PATHS: ReadonlySet<string> = new Set([
  "/v1/realtime",
  "/v1/realtime/translations",
  "/v1/responses",
]);
