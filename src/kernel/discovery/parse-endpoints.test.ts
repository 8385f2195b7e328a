import { expect, test } from "vitest";
import { formatAddress } from "./endpoint.ts";
import { parseEndpoints } from "./parse-endpoints.ts";

const addressesOf = (text: string) => parseEndpoints(text, 8000).map(formatAddress);

test.each([
  ["a YAML list", "- 10.0.0.5:8001\n- gpu-3.internal\n", ["10.0.0.5:8001", "gpu-3.internal:8000"]],
  ["a JSON list", '["10.0.0.5", "10.0.0.5:8000", "localhost:1"]', ["10.0.0.5:8000", "localhost:1"]],
  ["IPv6 addresses", '["fd00::5", "[fd00::6]:9000"]', ["[fd00::5]:8000", "[fd00::6]:9000"]],
  ["Prometheus' target groups", '[{"targets": ["a:1", "b:2"], "labels": {"env": "prod"}}]', ["a:1", "b:2"]],
  ["an empty list", "[]", []],
])("reads %s", (_name, text, addresses) => {
  expect(addressesOf(text)).toEqual(addresses);
});

test.each([
  ["is empty", ""],
  ["is empty", "  \n"],
  ["is neither YAML nor JSON", '["10.0.0.5:8000", "10.0'],
  ["must contain a list of addresses", "10.0.0.5:8000"],
  ["must contain a list of addresses", "- 8000\n"],
  ['contains "10.0.0."', "- 10.0.0."],
  ['contains "10.0.0.256"', "- 10.0.0.256"],
  ['contains "a:0"', "- a:0"],
  ['contains "a:65536"', "- a:65536"],
  ['contains "a b"', "- a b"],
  ['contains ""', '[""]'],
  ["the scheme and the path are those of base_url", "- http://10.0.0.5:8000/v1"],
])("rejects a text with the message: %s", (problem, text) => {
  expect(() => addressesOf(text)).toThrow(problem);
});
