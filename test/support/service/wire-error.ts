import { expect } from "vitest";

interface WireError {
  error: { message: string; type: string; param: string | null; code: string | null };
}

/** Returns a response's error, and checks that it has all four keys and a readable message. */
export async function errorOf(response: Response): Promise<WireError["error"]> {
  expect(response.headers.get("content-type")).toMatch(/^application\/json/);
  expect(response.headers.get("x-request-id")).toMatch(/^req_/);
  const body = (await response.json()) as WireError;
  expect(Object.keys(body)).toEqual(["error"]);
  expect(Object.keys(body.error).sort()).toEqual(["code", "message", "param", "type"]);
  expect(body.error.message.length).toBeGreaterThan(10);
  return body.error;
}
