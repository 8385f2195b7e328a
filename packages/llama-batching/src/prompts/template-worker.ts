/** Entry of the worker thread that renders long conversations. */

import { parentPort, workerData } from "node:worker_threads";
import { RequestError } from "../errors.ts";
import { ChatTemplate } from "./chat-template.ts";
import type { FromRenderer, TemplateData, ToRenderer } from "./template-renderer.ts";

const { source, fixed, argumentsAsText } = workerData as TemplateData;
const template = new ChatTemplate(source, fixed);
template.argumentsAsText = argumentsAsText;

parentPort?.on("message", ({ id, input }: ToRenderer) => {
  const post = (message: FromRenderer) => parentPort?.postMessage(message);
  try {
    post({ id, text: template.render(input) });
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    post({ id, refusal: error.message });
  }
});
