#!/usr/bin/env node
// Answers as stable-diffusion.cpp's server does, with the fields it got as the bytes of its images.
import { createServer } from "node:http";

const options = process.argv.slice(2);
const option = (name) => options[options.indexOf(name) + 1];
if (options.includes("--fail")) {
  console.error("error: unknown argument: --fail");
  process.exit(1);
}

const server = createServer(async (request, response) => {
  const json = (body, status = 200) =>
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  if (request.url === "/v1/models") return json({ data: [{ id: "sd-cpp-local", object: "model", owned_by: "local" }] });
  const bytes = Buffer.concat(await Array.fromAsync(request));
  const type = request.headers["content-type"];
  const isEdit = request.url === "/v1/images/edits";
  if (request.url !== "/v1/images/generations" && !isEdit) return response.writeHead(404).end();
  let fields;
  if (isEdit) {
    if (!type?.startsWith("multipart/form-data"))
      return json({ error: "Content-Type must be multipart/form-data" }, 400);
    const form = await new Response(bytes, { headers: { "content-type": type } }).formData();
    fields = Object.fromEntries([...form].filter(([, value]) => typeof value === "string"));
    const images = [...form.getAll("image[]"), ...form.getAll("image").slice(0, 1)];
    if (images.length === 0) return json({ error: "at least one image[] required" }, 400);
    fields = { ...fields, images: images.length, mask: form.has("mask") };
  } else {
    if (bytes.length === 0) return json({ error: "empty body" }, 400);
    fields = JSON.parse(bytes.toString());
  }
  if (!fields.prompt) return json({ error: "prompt required" }, 400);
  if (fields.prompt === "crash") process.kill(process.pid, "SIGSEGV");
  if (fields.prompt === "hang") return;
  if (fields.prompt === "out of memory") return json({ error: "generate_image returned no results" }, 500);
  const image = Buffer.from(JSON.stringify({ ...fields, options })).toString("base64");
  const data = Array.from({ length: Math.max(1, Number(fields.n ?? 1)) }, () => ({ b64_json: image }));
  json({ created: 1, data, output_format: fields.output_format ?? "png" });
});
server.listen(Number(option("--listen-port")), option("--listen-ip"));
