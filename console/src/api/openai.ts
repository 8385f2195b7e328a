import OpenAI from "openai";
import { urlOf } from "./request.ts";

/** The official client; the session's cookie takes the place of the key. */
export const openai: OpenAI = new OpenAI({
  baseURL: urlOf("v1"),
  apiKey: "session",
  defaultHeaders: { Authorization: null },
  dangerouslyAllowBrowser: true,
  maxRetries: 0,
});
