/** Keys and administration while PostgreSQL is unavailable. */

import { expect, test } from "vitest";
import { useDatabases } from "../support/databases/databases.ts";
import { eventually } from "../support/service/eventually.ts";
import { type ServiceProcess, startServiceProcess } from "../support/service/service-process.ts";
import { administrator, caller, INVALID, listed, say, useTeamServices } from "../support/service/team-services.ts";

const databases = useDatabases();
const start = useTeamServices(startServiceProcess);

test("keeps cached keys working without PostgreSQL, answers 503 for new ones, and recovers without a restart", async () => {
  const { url } = await databases.create("postgresql");
  const service = await start({ environment: { DATABASE_URL: url?.reveal() ?? "" } });
  const unknown = caller(service, `sk-${"u".repeat(43)}`);
  expect(await listed(caller(service))).toContain("parrot");
  await databases.postgres.stop();
  try {
    const outage = () => service.log().some(({ msg }) => String(msg).startsWith("The database cannot be reached"));
    await eventually(async () => {
      expect((await say(caller(service), "parrot")).model).toBe("parrot");
      expect(outage()).toBe(true);
    });
    expect((await say(caller(service), "parrot")).model).toBe("parrot");
    await expect(listed(unknown)).rejects.toMatchObject({ status: 503, code: "database_unavailable" });
    await expect(administrator(service).projects.list()).rejects.toMatchObject({ status: 503 });
    const ready = await service.fetch("/health/ready");
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain("database");
  } finally {
    await databases.postgres.start();
  }
  await eventually(async () => {
    await expect(listed(unknown)).rejects.toMatchObject(INVALID);
    expect((await administrator(service).projects.list()).data).toHaveLength(1);
    expect((await service.fetch("/health/ready")).status).toBe(200);
  });
});

test("a service started without its database reports it and recovers", async () => {
  const { url } = await databases.create("postgresql");
  await databases.postgres.stop();
  let service: ServiceProcess;
  try {
    service = await start({ until: "listening", environment: { DATABASE_URL: url?.reveal() ?? "" } });
    expect((await service.fetch("/health/live")).status).toBe(200);
    expect((await service.fetch("/health/ready")).status).toBe(503);
    await expect(listed(caller(service))).rejects.toMatchObject({ status: 503, code: "database_unavailable" });
  } finally {
    await databases.postgres.start();
  }
  await eventually(async () => {
    expect((await service.fetch("/health/ready")).status).toBe(200);
    expect(await listed(caller(service))).toEqual(["parrot", "owl"]);
  });
});
