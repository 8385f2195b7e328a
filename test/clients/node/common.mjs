/** Shared by the scripts of this folder: where Parlance is, and a runner that reports each check as one JSON line. */

import { readFileSync } from "node:fs";
import { join } from "node:path";

export const BASE_URL = process.env.PARLANCE_BASE_URL;
export const API_KEY = process.env.PARLANCE_API_KEY;
export const DEFAULT_MODEL = process.env.PARLANCE_CHAT_MODEL;
export const TOOLS_MODEL = "scripted-tools";

/** Folder with the installed packages. */
const PACKAGES = process.env.CLIENT_PACKAGES;

export function getWeather({ city }) {
  return `18 degrees in ${city}`;
}

export function assert(condition, found) {
  if (!condition) throw new Error(`found ${JSON.stringify(found)}`);
}

async function send(method, path, body) {
  const isForm = body instanceof FormData;
  const headers = {
    authorization: `Bearer ${API_KEY}`,
    ...(body && !isForm && { "content-type": "application/json" }),
  };
  const answer = await fetch(`${BASE_URL}${path}`, {
    method,
    headers,
    body: isForm || !body ? body : JSON.stringify(body),
  });
  return answer.json();
}

/** Gives `work` the ID of a vector store with one file about otters. */
export async function withStore(work) {
  const form = new FormData();
  form.set("purpose", "assistants");
  form.set("file", new Blob(["Otters swim in rivers."]), "otters.md");
  const { id: file } = await send("POST", "/files", form);
  const { id } = await send("POST", "/vector_stores", { name: "Animals", file_ids: [file] });
  for (let store = {}; store.status !== "completed"; store = await send("GET", `/vector_stores/${id}`)) {
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  try {
    await work(id);
  } finally {
    await send("DELETE", `/vector_stores/${id}`);
  }
}

/** Runs the checks in order and prints `{client, version, check, error}` for each. */
export async function run(client, checks) {
  const { version } = JSON.parse(readFileSync(join(PACKAGES, "node_modules", client, "package.json"), "utf8"));
  let failed = false;
  for (const [check, work] of Object.entries(checks)) {
    let error = null;
    try {
      await work();
    } catch (failure) {
      error = String(failure);
      failed = true;
      console.error(failure);
    }
    console.log(JSON.stringify({ client, version, check, error }));
  }
  // Some clients leave timers and connections.
  process.exit(failed ? 1 : 0);
}
