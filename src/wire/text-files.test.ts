import { expect, test } from "vitest";
import { withTextFiles } from "./text-files.ts";

const data = Buffer.from("a,b\n1,2\n").toString("base64");

test.each([
  [
    { type: "file", file: { filename: "a.csv", file_data: `data:text/csv;charset=utf-8;base64,${data}` } },
    { type: "text", text: "a.csv:\na,b\n1,2\n" },
  ],
  [
    { type: "input_file", file_data: `data:text/plain;base64,${data}` },
    { type: "input_text", text: "a,b\n1,2\n" },
  ],
  [
    { type: "document", title: "T", source: { type: "base64", media_type: "application/json", data } },
    { type: "text", text: "T:\na,b\n1,2\n" },
  ],
])("reads the text file %j", (part, text) => {
  const messages = [{ role: "user", content: [{ type: "text", text: "Read." }, part] }];
  expect(withTextFiles(messages)).toEqual([{ role: "user", content: [{ type: "text", text: "Read." }, text] }]);
});

test.each([
  { type: "file", file: { file_data: `data:application/pdf;base64,${data}` } },
  { type: "file", file: { file_id: "file-1" } },
  { type: "document", source: { type: "text", media_type: "text/plain", data: "x" } },
  { type: "image_url", image_url: { url: `data:image/png;base64,${data}` } },
])("leaves %j", (part) => {
  expect(withTextFiles([part])).toEqual([part]);
});
