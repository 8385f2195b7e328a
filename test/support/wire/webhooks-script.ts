import type { WireScript } from "./wire-script.ts";

/** Webhook endpoints of a project, at a public address to which nothing is sent. */
export const webhooks: WireScript = async ({ recorder, key }) => {
  const send = <Answer = Record<string, string>>(title: string, route: string, body?: unknown) => {
    const [method = "", path = ""] = route.split(" ");
    return recorder.send<Answer>(title, `${method} /v1${path}`, { key, body });
  };
  const body = { name: "Ends", url: "https://8.8.8.8/hook", event_types: ["batch.completed"] };
  const { id } = await send<{ id: string }>("create a webhook endpoint", "POST /webhook_endpoints", body);
  const path = `/webhook_endpoints/${id}`;
  await send("address in a private network", "POST /webhook_endpoints", { ...body, url: "https://10.0.0.1/" });
  await send("unknown event", "POST /webhook_endpoints", { ...body, event_types: ["video.completed"] });
  await send("list webhook endpoints", "GET /webhook_endpoints");
  await send("retrieve a webhook endpoint", `GET ${path}`);
  await send("change a webhook endpoint", `POST ${path}`, { name: "Batches" });
  await send("rotate the secret of a webhook endpoint", `POST ${path}/rotate_secret`, {});
  await send("test a webhook endpoint with an unknown event", `POST ${path}/test`, { event_type: "video.completed" });
  await send("list event types", "GET /webhook_event_types");
  await send("delete a webhook endpoint", `DELETE ${path}`);
  await send("missing webhook endpoint", `GET ${path}`);
};
