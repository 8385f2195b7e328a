/** A service for tests to kill: opens a model behind the given llama-server and reports when it is up. */

import { llamaServerEngine } from "../../../src/engines/llama-server/llama-server-engine.ts";
import { llamaServerSettings } from "../../../src/engines/llama-server/settings.ts";
import { makeEngineServices } from "./engine-services.ts";

const settings = llamaServerSettings.parse({ binary: process.argv[2], file: "model.gguf" });
const services = makeEngineServices({ pull: async () => ({ path: "model.gguf", paths: {} }) });
await llamaServerEngine.open(settings, "chat", services);
console.log("up");
setInterval(() => {}, 1000);
