import type { WireScript } from "./wire-script.ts";

/** Evals; what a run results in depends on time, and other tests check it. */
export const evals: WireScript = async ({ recorder, key }) => {
  const send = <Answer = Record<string, string>>(title: string, route: string, body?: unknown) => {
    const [method = "", path = ""] = route.split(" ");
    return recorder.send<Answer>(title, `${method} /v1${path}`, { key, body });
  };
  const grader = {
    type: "string_check",
    name: "equal",
    input: "{{sample.output_text}}",
    reference: "{{item.answer}}",
    operation: "eq",
  };
  const config = { type: "custom", item_schema: { type: "object" } };
  const create = (criteria: object[]) => ({ name: "Equal", data_source_config: config, testing_criteria: criteria });
  const created = await send("create an eval", "POST /evals", create([grader]));
  await send("grader that runs code", "POST /evals", create([{ type: "python", name: "code", source: "" }]));
  await send("eval without graders", "POST /evals", create([]));
  await send("list evals", "GET /evals");
  const path = `/evals/${created.id}`;
  await send("retrieve an eval", `GET ${path}`);
  await send("change an eval", `POST ${path}`, { metadata: { team: "a" } });
  await send("unknown eval", "GET /evals/eval_none");
  await send("list runs", `GET ${path}/runs`);
  await send("run without a model", `POST ${path}/runs`, {
    data_source: { type: "completions", source: { type: "file_content", content: [{ item: {} }] } },
  });
  await send("run with a missing file", `POST ${path}/runs`, {
    data_source: { type: "jsonl", source: { type: "file_id", id: "file-none" } },
  });
  await send("comparison without models", `POST ${path}/comparisons`, {
    data_source: { type: "completions", source: { type: "file_content", content: [{ item: {} }] } },
    variants: [{ name: "A" }],
  });
  await send("unknown run", `GET ${path}/runs/evalrun_none`);
  await send("cancel an unknown run", `POST ${path}/runs/evalrun_none/cancel`);
  await send("delete an unknown run", `DELETE ${path}/runs/evalrun_none`);
  await send("items of an unknown run", `GET ${path}/runs/evalrun_none/output_items`);
  await send("item of an unknown run", `GET ${path}/runs/evalrun_none/output_items/outputitem_none`);
  await send("delete an eval", `DELETE ${path}`);
};
