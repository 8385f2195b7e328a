import type { WireScript } from "./wire-script.ts";

/** Budgets and spend alerts of the organization and of a project. */
export const budgets: WireScript = async ({ recorder, adminKey }) => {
  const send = <Answer = Record<string, string>>(title: string, route: string, body?: unknown) => {
    const [method = "", path = ""] = route.split(" ");
    return recorder.send<Answer>(title, `${method} /v1/organization${path}`, { key: adminKey, body });
  };
  const { id: project_id } = await send("create a project", "POST /projects", { name: "Budgets" });
  const project = `/projects/${project_id}`;
  await send("unknown user's budgets", "GET /users/user_none/budgets");
  for (const owner of ["", project]) {
    const path = `${owner}/budgets`;
    const keys = { name: "Keys", subject: { type: "api_key" }, project_id, interval: "total", starts_at: 0 };
    const budget = await send<{ id: string }>("create a budget", `POST ${path}`, { ...keys, threshold_amount: 1000 });
    const each = { type: "project" };
    await send("create a budget of a month", `POST ${path}`, {
      subject: each,
      interval: "month",
      threshold_amount: 500_000,
    });
    const endUser = { type: "end_user" };
    await send("budget of an end user", `POST ${path}`, { subject: endUser, interval: "day", threshold_amount: 5 });
    await send("list budgets", `GET ${path}`);
    await send("retrieve a budget", `GET ${path}/${budget.id}`);
    await send("usage of a budget", `GET ${path}/${budget.id}/usage`);
    await send("change a budget", `POST ${path}/${budget.id}`, { threshold_amount: 2000, alert_percents: [90, 10] });
    await send("invalid budget", `POST ${path}`, { subject: each, interval: "year", threshold_amount: 5 });
    await send("delete a budget", `DELETE ${path}/${budget.id}`);
    await send("no budget", `GET ${path}/${budget.id}`);
    const alerts = `${owner}/spend_alerts`;
    const channel = { type: "email", recipients: ["ada@example.com"] };
    const body = { currency: "USD", interval: "month", threshold_amount: 1_000_000, notification_channel: channel };
    const alert = await send<{ id: string }>("create a spend alert", `POST ${alerts}`, body);
    await send("list spend alerts", `GET ${alerts}`);
    await send("retrieve a spend alert", `GET ${alerts}/${alert.id}`);
    await send("change a spend alert", `POST ${alerts}/${alert.id}`, { ...body, threshold_amount: 2_000_000 });
    await send("delete a spend alert", `DELETE ${alerts}/${alert.id}`);
  }
};
