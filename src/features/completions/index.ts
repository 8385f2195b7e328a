/** What other features may use. */

export { completions } from "./routes.ts";
