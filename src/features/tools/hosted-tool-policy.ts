/** Which hosted tools a project may use. */

import type { FastifyPluginAsync } from "fastify";
import type { Caller } from "../../contracts/caller.ts";
import { Fault } from "../../kernel/faults.ts";
import {
  HOSTED_TOOLS,
  type HostedTool,
  HostedToolPermissions,
  HostedToolPermissionsBody,
  HostedToolSettings,
  hostedToolOf,
  requestedTools,
  toHostedToolPermissions,
  toHostedToolSettings,
} from "../../wire/openai/organization/hosted-tool-permissions.ts";
import { type Accounts, projectPolicyRoutes, StoredPolicy } from "../accounts/index.ts";

declare module "../accounts/keys/key-policy.ts" {
  interface KeyPolicies {
    /** Hosted tools that the project has turned off. */
    disabledTools: readonly HostedTool[];
  }
}

const stored = new StoredPolicy<HostedToolSettings>({
  name: "hosted_tool_permissions",
  settings: HostedToolSettings,
  strictest: Object.fromEntries(HOSTED_TOOLS.map((tool) => [tool, false])),
});

export const hostedToolPolicy = stored.forKeys<readonly HostedTool[]>((settings = {}) =>
  HOSTED_TOOLS.filter((tool) => settings[tool] === false),
);

/** /v1/organization/projects/{project}/hosted_tool_permissions */
export function hostedToolPermissions({ transactions }: Pick<Accounts, "transactions">): FastifyPluginAsync {
  return projectPolicyRoutes(transactions, {
    path: "hosted_tool_permissions",
    summaries: {
      retrieve: "Retrieves which hosted tools a project may use.",
      replace: "Sets which hosted tools a project may use; tools that are left out stay as they are.",
    },
    body: HostedToolPermissionsBody,
    answer: HostedToolPermissions,
    find: async (executor, { id }) => (await stored.find(executor, id)) ?? {},
    toValue: toHostedToolSettings,
    put: async ({ executor, now }, { id }, changes) => {
      const former = (await stored.find(executor, id)) ?? {};
      await stored.put(executor, id, { ...former, ...changes }, now);
    },
    details: (changes) => ({ hostedToolPermissions: changes }),
    toAnswer: toHostedToolPermissions,
  });
}

/** Refuses the hosted tools that projects have turned off. */
export class HostedToolAccess {
  readonly #disabledFor: (caller: Caller) => readonly HostedTool[];

  constructor(disabledFor: (caller: Caller) => readonly HostedTool[]) {
    this.#disabledFor = disabledFor;
  }

  /** Throws a Fault when the project of the caller has turned the tool off. */
  check(caller: Caller, tool: HostedTool, param?: string): void {
    if (this.#disabledFor(caller).includes(tool)) throw disabled(tool, param);
  }

  /** Checks the tools of a request, wherever they would run. Throws a Fault. */
  checkAll(caller: Caller, tools: readonly { type?: unknown; environment?: unknown }[]): void {
    const turnedOff = this.#disabledFor(caller);
    if (turnedOff.length === 0) return;
    for (const [index, each] of tools.entries()) {
      const tool = hostedToolOf(each);
      if (tool !== undefined && turnedOff.includes(tool)) throw disabled(tool, `tools[${index}].type`);
    }
  }
}

/** Checks what a body asks an upstream for. Throws a Fault. */
export function checkForwardedTools(turnedOff: readonly HostedTool[], body: Readonly<Record<string, unknown>>): void {
  if (turnedOff.length === 0) return;
  const refused = requestedTools(body).find(({ tool }) => turnedOff.includes(tool));
  if (refused !== undefined) throw disabled(refused.tool, refused.param);
}

function disabled(tool: HostedTool, param: string | undefined): Fault {
  const message = `The tool '${tool}' is turned off in this project. Leave it out, or ask an administrator to enable it in the project's hosted_tool_permissions.`;
  return new Fault("forbidden", message, { param, code: "hosted_tool_disabled" });
}
