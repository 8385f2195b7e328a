import { afterAll, expect, test } from "vitest";
import { ReceiverGuard } from "./receiver-guard.ts";

const guard = new ReceiverGuard(["127.0.0.1:443", "10.0.0.5:80", "::1", "[FD00:0:0::5]:8443", "192.168.1.7"]);
afterAll(() => guard.close());

test.each([
  "https://127.0.0.1/hook",
  "http://10.0.0.5/hook",
  "https://[::1]:9000/hook",
  "https://[fd00::5]:8443/hook",
  "http://192.168.1.7:81/hook",
])("a listed host may be at %s", async (url) => {
  await guard.check(url);
});

test.each([
  "https://127.0.0.1:444/hook",
  "https://10.0.0.5/hook",
  "https://[fd00::5]/hook",
  "https://192.168.1.70/hook",
])("a host or port that is not listed may not: %s", async (url) => {
  await expect(guard.check(url)).rejects.toMatchObject({ code: "address_refused" });
});
