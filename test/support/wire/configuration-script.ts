import type { WireScript } from "./wire-script.ts";

/** Models, connections, settings and versions of the configuration. Ends without entries. */
export const configuration: WireScript = async ({ recorder, adminKey }) => {
  const send = <Answer = Record<string, string>>(
    title: string,
    route: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => {
    const [method = "", path = ""] = route.split(" ");
    const request = { key: adminKey, body, ...(headers && { headers }) };
    return recorder.send<Answer>(title, `${method} /v1/organization${path}`, request);
  };
  const upstream = { base_url: "http://127.0.0.1:9/v1", api_key: "recorded-key" };
  await send("create a connection", "POST /connections?reason=First", { name: "upstream", ...upstream });
  await send("create a connection again", "POST /connections", { name: "upstream", ...upstream });
  await send("create an invalid connection", "POST /connections", { name: "other", base_url: "ftp://x" });
  await send("retrieve a connection", "GET /connections/upstream");
  const model = { id: "live", task: "chat", deployments: [{ connection: "upstream", model: "bird" }] };
  await send("create a model", "POST /models", model);
  await send("create an invalid model", "POST /models", { ...model, id: "bad", fallbacks: ["none"] });
  await send("create a model of the file", "POST /models", { ...model, id: "parrot" });
  await send("retrieve a model", "GET /models/live");
  await send("replace a model", "POST /models/live", { ...model, retries: 1 });
  await send("replace a model that has changed", "POST /models/live", model, { "if-match": '"1"' });
  await send("rename a model", "POST /models/live", { ...model, id: "other" });
  await send("retrieve an unknown model", "GET /models/none");
  await send("remove a connection in use", "DELETE /connections/upstream");
  await send("replace a connection", "POST /connections/upstream", {
    ...upstream,
    api_key: "[redacted]",
    probe: false,
  });
  await send("set a setting", "POST /configuration/settings/limits.user", { value: { requests_per_minute: 100000 } });
  await send("set another setting", "POST /configuration/settings/server.port", { value: 1 });
  await send("retrieve a setting", "GET /configuration/settings/limits.user");
  await send("reset a setting", "DELETE /configuration/settings/limits.user");
  await send("list entries", "GET /configuration/entries?kind=connection");
  const { data } = await send<{ data: { version: number }[] }>("list versions", "GET /configuration/versions?limit=2");
  const version = data[0]?.version ?? 0;
  await send("compare versions", `GET /configuration/versions/${version}?from=${version - 3}`);
  await send("compare an unknown version", "GET /configuration/versions/1000000");
  await send("remove a model", "DELETE /models/live/entry");
  await send("restore a version", `POST /configuration/versions/${version}/restore`);
  await send("test an address without a server", "POST /connections/test", { base_url: upstream.base_url });
  await send("test a metadata service", "POST /connections/test", { base_url: "http://169.254.169.254" });
  await send("test nothing", "POST /connections/test", {});
  const imported = { kind: "model", name: "imported", value: { ...model, id: "imported" } };
  await send("import", "POST /configuration/import?reason=Import", { entries: [imported] });
  await send("import an invalid entry", "POST /configuration/import", { entries: [{ ...imported, name: "other" }] });
  await send("remove the imported model", "DELETE /models/imported/entry");
  await send("remove the model again", "DELETE /models/live/entry");
  await send("remove a connection", "DELETE /connections/upstream");
  const secret = `whsec_${Buffer.alloc(32, "w").toString("base64")}`;
  const endpoint = { url: "http://127.0.0.1:9/events", secret, events: ["batch.expired"] };
  await send("set webhooks", "POST /configuration/settings/webhooks", { value: [endpoint] });
  await send("list webhooks", "GET /webhooks");
  await send("list types of events", "GET /webhooks/events");
  await send("list deliveries", "GET /webhooks/deliveries?state=failed");
  await send("list deliveries in no state", "GET /webhooks/deliveries?state=lost");
  await send("test a webhook", "POST /webhooks/test", { url: endpoint.url });
  await send("test an unknown webhook", "POST /webhooks/test", { url: "http://127.0.0.1:9/other" });
  await send("retry an unknown delivery", "POST /webhooks/deliveries/whd_none/retry");
  await send("reset webhooks", "DELETE /configuration/settings/webhooks");
};
