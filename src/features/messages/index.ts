/** What other features may use. */

export { messages } from "./routes.ts";
