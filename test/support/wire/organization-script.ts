import { eventually } from "../service/eventually.ts";
import { user } from "./chat-inputs.ts";
import type { WireScript } from "./wire-script.ts";

export const organization: WireScript = async ({ recorder, key, adminKey }) => {
  const ROOT = "/v1/organization";
  const send = <Answer = Record<string, string>>(title: string, route: string, body?: unknown) => {
    const [method = "", path = ""] = route.split(" ");
    return recorder.send<Answer>(title, `${method} ${ROOT}${path}`, { key: adminKey, body });
  };
  const { id } = await send("create a project", "POST /projects", { name: "Recorded" });
  const project = `/projects/${id}`;
  await send("create a project without a name", "POST /projects", {});
  await send("list projects", "GET /projects?limit=1");
  await send("retrieve", `GET ${project}`);
  await send("rename", `POST ${project}`, { name: "Renamed" });
  await send("unknown project", "GET /projects/proj_none");
  await send("NUL", "GET /projects/%00");

  const account = await send<{ id: string; api_key: { id: string; value: string } }>(
    "create a service account",
    `POST ${project}/service_accounts`,
    { name: "App" },
  );
  const accountPath = `${project}/service_accounts/${account.id}`;
  await send("list service accounts", `GET ${project}/service_accounts`);
  await send("retrieve a service account", `GET ${accountPath}`);
  await send("update a service account", `POST ${accountPath}`, { name: "Other" });
  const second = await send("create a key", `POST ${accountPath}/api_keys`, { name: "Second" });
  await send("create a key without a body", `POST ${accountPath}/api_keys`);
  await send("list keys of an account", `GET ${accountPath}/api_keys`);
  await send("list keys", `GET ${project}/api_keys`);
  await send("retrieve a key", `GET ${project}/api_keys/${second.id}`);
  await send("set when a key expires", `POST ${project}/api_keys/${second.id}`, { expires_in_seconds: 3600 });

  for (const owner of ["", project, `${project}/api_keys/${second.id}`]) {
    const path = `${owner}/spend_limit`;
    await send("no spend limit", `GET ${path}`);
    await send("set a spend limit", `POST ${path}`, { threshold_amount: 1000, currency: "USD", interval: "month" });
    await send("retrieve a spend limit", `GET ${path}`);
    await send("invalid spend limit", `POST ${path}`, { threshold_amount: 0, currency: "USD", interval: "month" });
    await send("remove a spend limit", `DELETE ${path}`);
  }
  const rules = { max_keys_per_user: 3, max_lifetime_seconds: 86_400, model_ids: ["parrot"] };
  await send("no rules for keys", `GET ${project}/key_rules`);
  await send("set rules for keys", `POST ${project}/key_rules`, { ...rules, max_spend_cents_per_month: 500 });
  await send("retrieve rules for keys", `GET ${project}/key_rules`);
  await send("invalid rules for keys", `POST ${project}/key_rules`, { max_keys_per_user: 0 });
  await send("unknown model in rules for keys", `POST ${project}/key_rules`, { model_ids: ["none"] });
  await send("remove rules for keys", `DELETE ${project}/key_rules`);
  for (const owner of ["", project]) {
    const path = `${owner}/model_permissions`;
    await send("no model permissions", `GET ${path}`);
    await send("set model permissions", `POST ${path}`, { mode: "deny_list", model_ids: ["speech"] });
    await send("retrieve model permissions", `GET ${path}`);
    await send("unknown model", `POST ${path}`, { mode: "allow_list", model_ids: ["none"] });
    await send("remove model permissions", `DELETE ${path}`);
  }
  const tools = `${project}/hosted_tool_permissions`;
  await send("hosted tools", `GET ${tools}`);
  await send("turn hosted tools off", `POST ${tools}`, { mcp: { enabled: false }, web_search: null });
  await send("invalid hosted tools", `POST ${tools}`, { mcp: { enabled: "no" } });
  const words = `${project}/pronunciations`;
  await send("pronunciations", `GET ${words}`);
  await send("set pronunciations", `POST ${words}`, { data: [{ text: "Bonn", spoken: "Bon" }] });
  const keywords = `${project}/transcription_keywords`;
  await send("transcription keywords", `GET ${keywords}`);
  await send("set transcription keywords", `POST ${keywords}`, { data: ["Bonn", "Parlance"] });
  await send("invalid transcription keywords", `POST ${keywords}`, {
    data: ["a".repeat(99), ...Array(9).fill("b".repeat(60))],
  });
  await send("invalid pronunciations", `POST ${words}`, { data: [{ text: "" }] });
  const tiers = `${project}/service_tier_settings`;
  await send("service tiers", `GET ${tiers}`);
  await send("set service tiers", `POST ${tiers}`, { enabled_tiers: ["flex"] });
  await send("no change of service tiers", `POST ${tiers}`, {});
  for (const owner of ["", project]) {
    const path = `${owner}/data_retention`;
    await send("data retention", `GET ${path}`);
    await send("set data retention", `POST ${path}`, { retention_type: "none" });
    await send("unsupported data retention", `POST ${path}`, { retention_type: "enhanced_zero_data_retention" });
  }
  const policy = `${project}/moderation_policy`;
  await send("no policy", `GET ${policy}`);
  await send("set a policy", `POST ${policy}`, { model: "judge", policy: { input: { mode: "score" } } });
  await send("retrieve a policy", `GET ${policy}`);
  await send("remove a policy", `DELETE ${policy}`);
  const guardrails = `${project}/guardrails`;
  await send("no guardrails", `GET ${guardrails}`);
  const list = [
    { type: "pii", action: "mask" },
    { type: "moderation", model: "judge", input: "score" },
  ];
  await send("set guardrails", `POST ${guardrails}`, { guardrails: list });
  await send("a guardrail of an unknown type", `POST ${guardrails}`, { guardrails: [{ type: "magic" }] });
  await send("a field of another guardrail", `POST ${guardrails}`, { guardrails: [{ type: "secrets", words: ["a"] }] });
  await send("retrieve guardrails", `GET ${guardrails}`);
  await send("remove guardrails", `POST ${guardrails}`, { guardrails: [] });

  const limits = await send<{ data: { id: string; model: string }[] }>(
    "list rate limits",
    `GET ${project}/rate_limits`,
  );
  const limit = limits.data.find(({ model }) => model === "parrot")?.id;
  await send("set a rate limit", `POST ${project}/rate_limits/${limit}`, {
    max_requests_per_1_minute: 100,
    max_tokens_per_1_minute: 100_000,
  });
  await send("unknown rate limit", `POST ${project}/rate_limits/none`, { max_requests_per_1_minute: 100 });

  const accountKey = account.api_key.value;
  const ask = { model: "parrot", messages: user("Hello you"), max_tokens: 50 };
  await recorder.send("limited chat", "POST /v1/chat/completions", { key: accountKey, body: ask });
  await recorder.send("limited message", "POST /v1/messages", { key: accountKey, body: ask });
  const midnight = Math.floor(Date.now() / 86_400_000) * 86_400;
  const ofToday = `start_time=${midnight}&limit=1`;
  const read = async (path: string) => {
    const answer = await fetch(`${recorder.origin}${ROOT}${path}`, {
      headers: { authorization: `Bearer ${accountKey}` },
    });
    return answer.text();
  };
  await eventually(async () => {
    const page = await read(`/usage/completions?${ofToday}&bucket_width=1d`);
    if (!page.includes('"num_model_requests":2')) throw new Error(page);
  });
  await eventually(async () => {
    const page = await read("/requests?limit=10");
    if ((page.match(/"organization.request"/g)?.length ?? 0) < 2) throw new Error(page);
  });
  const sendAsAccount = (title: string, path: string) =>
    recorder.send(title, `GET ${ROOT}${path}`, { key: accountKey });
  for (const kind of [
    "completions",
    "embeddings",
    "moderations",
    "audio_speeches",
    "audio_transcriptions",
    "images",
    "vector_stores",
  ]) {
    await sendAsAccount(`usage of ${kind}`, `/usage/${kind}?${ofToday}&bucket_width=1d&group_by=model`);
  }
  await sendAsAccount("usage by project and model", `/usage?start_time=${midnight}`);
  await sendAsAccount("costs", `/costs?${ofToday}`);
  await sendAsAccount("costs by line item", `/costs?${ofToday}&group_by=line_item`);
  await sendAsAccount("usage without a start", "/usage/completions");
  await sendAsAccount("requests", "/requests?limit=10");
  await recorder.send("overview", `GET ${ROOT}/overview`, { key: accountKey, bodyAs: "(overview)" });
  await recorder.send("configuration", `GET ${ROOT}/configuration`, { key: adminKey, bodyAs: "(configuration)" });
  await sendAsAccount("configuration for a project key", "/configuration");
  await recorder.send("projects for a project key", `GET ${ROOT}/projects`, { key });
  await recorder.send("chat with an admin key", "POST /v1/chat/completions", { key: adminKey, body: ask });

  const admin = await send("create an admin key", "POST /admin_api_keys", { name: "Second" });
  await send("list admin keys", "GET /admin_api_keys");
  await send("retrieve an admin key", `GET /admin_api_keys/${admin.id}`);
  await send("revoke an admin key", `DELETE /admin_api_keys/${admin.id}`);
  await send("revoke a key", `DELETE ${project}/api_keys/${second.id}`);
  await send("delete a service account", `DELETE ${accountPath}`);
  await send("set the rate limit of an alias", `POST ${project}/rate_limits/parakeet`, { max_requests_per_1_day: 9 });
  await send("create a key without an account", `POST ${project}/api_keys`, { name: "Third" });
  await send("list keys of all projects", `GET /api_keys?project_id=${id}`);
  await send("archive", `POST ${project}/archive`);
  await send("list events", "GET /audit_logs?limit=20");
  await send("retrieve the organization", "GET ");
  await recorder.send("organizations with an admin key", "GET /v1/organizations", { key: adminKey });
};
