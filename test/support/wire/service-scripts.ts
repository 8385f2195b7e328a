import type { WireScript } from "./wire-script.ts";

export const models: WireScript = async ({ recorder, key, adminKey }) => {
  await recorder.send("list", "GET /v1/models", { key });
  await recorder.send("list with a slash", "GET /v1/models/", { key });
  await recorder.send("list with metadata", "GET /v1/models?include_metadata=true&task=chat", { key });
  await recorder.send("retrieve", "GET /v1/models/parrot?include_model_access_groups=true", { key });
  await recorder.send("retrieve an unknown one", "GET /v1/models/a/b", { key });
  const headers = { "anthropic-version": "2023-06-01" };
  await recorder.send("list in Anthropic's format", "GET /v1/models?limit=1", { key, headers });
  await recorder.send("retrieve in Anthropic's format", "GET /v1/models/parrot", { key, headers });
  await recorder.send("invalid query", "GET /v1/models?task=none", { key });
  const administer = (route: string) => recorder.send(route.split("/").at(-1) ?? "", route, { key: adminKey });
  for (const operation of ["unload", "load", "pull"]) {
    await administer(`POST /v1/organization/models/spare/${operation}`);
  }
  await administer("DELETE /v1/organization/models/spare");
  await administer("POST /v1/organization/models/none/load");
  await recorder.send("load with a project key", "POST /v1/organization/models/spare/load", { key });
};

export const service: WireScript = async ({ recorder, key, adminKey }) => {
  const page = { "sec-fetch-site": "same-origin" };
  await recorder.send("live", "GET /health/live");
  await recorder.send("ready", "GET /health/ready");
  await recorder.send("ready by the short path", "GET /health");
  await recorder.send("ready with details", "GET /health/ready", { key: adminKey });
  await recorder.send("metrics", "GET /metrics", { bodyAs: "(metrics)" });
  const accept = { accept: "text/html" };
  await recorder.send("console", "GET /", { headers: accept, bodyAs: "(page)" });
  await recorder.send("unknown file of the console", "GET /assets/none.js");
  await recorder.send("OpenAPI document", "GET /openapi.json", { bodyAs: "(document)" });
  await recorder.send("sign in", "POST /console/session", {
    body: { key },
    headers: { "sec-fetch-site": "same-origin" },
  });
  await recorder.send("sign in with a wrong key", "POST /console/session", {
    body: { key: "sk-wrong" },
    headers: page,
  });
  await recorder.send("no session", "GET /console/session");
  await recorder.send("sign out", "DELETE /console/session", { headers: page });
  await recorder.send("sign out on another site's page", "DELETE /console/session");
  await recorder.send("unknown path", "GET /v1/nothing");
  await recorder.send("path without a version", "POST /chat/completions", { body: {} });
  await recorder.send("absent operation", "POST /v1/fine_tuning/jobs", { body: {} });
  await recorder.send("wrong method", "PATCH /v1/chat/completions");
  await recorder.send("invalid encoding", "GET /v1/models/%ff");
  await recorder.send("preflight", "OPTIONS /v1/chat/completions", {
    headers: { origin: "https://page.example", "access-control-request-method": "POST" },
  });
};
