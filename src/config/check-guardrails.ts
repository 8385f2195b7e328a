/** Checks that guardrails refer to services that are configured: a misspelled name would refuse every request. */

import type { ConfigErrors, Path } from "./config-errors.ts";
import type { ConfigFile } from "./file-schema.ts";

export function checkGuardrails(file: ConfigFile | undefined, errors: ConfigErrors): void {
  if (file === undefined) return;
  const { webhooks, presidio } = file.guardrailServices;
  const check = (list: ConfigFile["guardrails"], path: Path) => {
    for (const [index, { webhook, engine }] of list.entries()) {
      if (webhook !== undefined && webhooks.every(({ name }) => name !== webhook)) {
        errors.add([...path, index, "webhook"], "must be the name of an entry of guardrail_services.webhooks");
      }
      if (engine === "presidio" && presidio === undefined) {
        errors.add([...path, index, "engine"], "needs guardrail_services.presidio");
      }
    }
  };
  check(file.guardrails, ["guardrails"]);
  for (const [index, { guardrails }] of file.models.entries()) check(guardrails, ["models", index, "guardrails"]);
}
