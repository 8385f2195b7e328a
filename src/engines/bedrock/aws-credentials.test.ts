import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Secret } from "../../kernel/secret.ts";
import { AwsCredentialSource } from "./aws-credentials.ts";

const NONE = { keys: undefined, profile: undefined, region: "eu-central-1" };
const OFF = { AWS_EC2_METADATA_DISABLED: "true" };
let folder: string;
let origin: string;
let requests: { method: string | undefined; path: string | undefined; body: string; token: unknown }[] = [];
const answers: Record<string, object | string> = {};
const server = createServer(async (request, response) => {
  const { method, url: path, headers } = request;
  const token = headers["x-aws-ec2-metadata-token"] ?? headers.authorization;
  requests.push({ method, path, body: await text(request), token });
  const answer = answers[path ?? ""];
  response
    .writeHead(answer === undefined ? 404 : 200)
    .end(typeof answer === "string" ? answer : JSON.stringify(answer));
});

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "aws-"));
  await writeFile(
    join(folder, "credentials"),
    "[default]\naws_access_key_id = AKDEFAULT\naws_secret_access_key = s1\n\n[work]\n# a comment\naws_access_key_id=AKWORK\naws_secret_access_key=s2=\naws_session_token=t2\n",
  );
  await writeFile(join(folder, "config"), "[profile other]\naws_access_key_id=AKOTHER\naws_secret_access_key=s3\n");
  await writeFile(join(folder, "token"), "web-token\n");
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.close();
  await rm(folder, { recursive: true });
});
beforeEach(() => {
  requests = [];
});

const issued = (id: string, seconds = 3600) => ({
  AccessKeyId: id,
  SecretAccessKey: "secret",
  Token: "session",
  Expiration: new Date(Date.now() + seconds * 1000).toISOString(),
});

function source(environment: Record<string, string>, settings: Partial<typeof NONE> & object = {}) {
  const files = {
    AWS_SHARED_CREDENTIALS_FILE: join(folder, environment.none === undefined ? "credentials" : "nothing"),
    AWS_CONFIG_FILE: join(folder, "config"),
  };
  return new AwsCredentialSource({ ...NONE, ...settings }, "test-model", { ...OFF, ...files, ...environment });
}

test("takes the keys of the settings, of the environment, and of profiles, in this order", async () => {
  const keys = { accessKeyId: "AKSET", secretAccessKey: new Secret("s0"), sessionToken: undefined };
  const environment = { AWS_ACCESS_KEY_ID: "AKENV", AWS_SECRET_ACCESS_KEY: "s" };
  const idOf = async (each: AwsCredentialSource) => (await each.get()).accessKeyId;
  expect(await idOf(source(environment, { keys } as object))).toBe("AKSET");
  expect(await idOf(source(environment))).toBe("AKENV");
  expect(await idOf(source(environment, { profile: "other" } as object))).toBe("AKOTHER");
  expect(await idOf(source({}))).toBe("AKDEFAULT");
  expect(await source({ AWS_PROFILE: "work" }).get()).toEqual({
    accessKeyId: "AKWORK",
    secretAccessKey: "s2=",
    sessionToken: "t2",
  });
});

test("names the profile that has no keys", async () => {
  await expect(source({}, { profile: "missing" } as object).get()).rejects.toMatchObject({
    kind: "upstream-refused",
    message: "There are no AWS credentials for `test-model` in the profile missing.",
  });
});

test("exchanges a web identity for those of a role", async () => {
  const Credentials = { ...issued("AKROLE"), SessionToken: "session", Expiration: Date.now() / 1000 + 3600 };
  answers["/"] = { AssumeRoleWithWebIdentityResponse: { AssumeRoleWithWebIdentityResult: { Credentials } } };
  const environment = {
    none: "1",
    AWS_WEB_IDENTITY_TOKEN_FILE: join(folder, "token"),
    AWS_ROLE_ARN: "arn:aws:iam::1:role/r",
    AWS_ENDPOINT_URL_STS: origin,
  };
  expect(await source(environment).get()).toMatchObject({ accessKeyId: "AKROLE", sessionToken: "session" });
  expect(Object.fromEntries(new URLSearchParams(requests[0]?.body))).toMatchObject({
    WebIdentityToken: "web-token",
    RoleArn: "arn:aws:iam::1:role/r",
  });
});

test("asks the container, once for requests that wait together, and again before the end", async () => {
  answers["/creds"] = issued("AKTASK");
  const environment = {
    none: "1",
    AWS_CONTAINER_CREDENTIALS_FULL_URI: `${origin}/creds`,
    AWS_CONTAINER_AUTHORIZATION_TOKEN: "task-token",
  };
  const task = source(environment);
  await Promise.all([task.get(), task.get()]);
  expect(await task.get()).toMatchObject({ accessKeyId: "AKTASK" });
  expect(requests).toMatchObject([{ token: "task-token" }]);
  answers["/creds"] = issued("AKLATE", 60);
  const late = source(environment);
  await late.get();
  await late.get();
  expect(requests).toHaveLength(3);
});

test("asks the metadata of the instance with a session", async () => {
  answers["/latest/api/token"] = "imds-token";
  answers["/latest/meta-data/iam/security-credentials/"] = "my-role";
  answers["/latest/meta-data/iam/security-credentials/my-role"] = issued("AKINSTANCE");
  const environment = { none: "1", AWS_EC2_METADATA_DISABLED: "", AWS_EC2_METADATA_SERVICE_ENDPOINT: origin };
  expect(await source(environment).get()).toMatchObject({ accessKeyId: "AKINSTANCE" });
  expect(requests.map(({ method, token }) => [method, token])).toEqual([
    ["PUT", undefined],
    ["GET", "imds-token"],
    ["GET", "imds-token"],
  ]);
});
