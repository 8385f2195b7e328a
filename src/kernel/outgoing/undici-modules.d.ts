/** Modules of undici that `undici.ts` imports one by one. */

declare module "undici/lib/api/index.js" {
  import type { Dispatcher } from "undici";

  const api: Pick<Dispatcher, "connect" | "pipeline" | "request" | "stream" | "upgrade">;
  export default api;
}
declare module "undici/lib/core/connect.js" {
  export { buildConnector as default } from "undici";
}
declare module "undici/lib/core/errors.js" {
  import { errors } from "undici";
  export default errors;
}
declare module "undici/lib/dispatcher/agent.js" {
  export { Agent as default } from "undici";
}
declare module "undici/lib/dispatcher/dispatcher.js" {
  export { Dispatcher as default } from "undici";
}
declare module "undici/lib/dispatcher/env-http-proxy-agent.js" {
  export { EnvHttpProxyAgent as default } from "undici";
}
declare module "undici/lib/dispatcher/pool.js" {
  export { Pool as default } from "undici";
}
declare module "undici/lib/dispatcher/proxy-agent.js" {
  export { ProxyAgent as default } from "undici";
}
