/** What other features may use. */

export { rerank } from "./routes.ts";
