/** A project's list of guardrails as the values of a form, and back. */

export type Guardrail = Readonly<Record<string, unknown>> & { type: string };

const MASKING = ["mask_and_restore", "mask", "block", "report"] as const;
const CHECKING = ["block", "report"] as const;

export type Action = (typeof MASKING)[number] | "off";

export interface GuardrailValues {
  pii: Action;
  secrets: Action;
  injection: Action;
  words: Action;
  /** One word or phrase a line. */
  wordList: string;
  topics: Action;
  /** One rule a line. */
  rules: string;
  /** Chat model that judges the rules. */
  judge: string | null;
  /** Name of the operator's webhook; "" without one. */
  webhook: string;
}

/** The guardrails of the form, in the order in which it adds them. */
const TYPES = ["pii", "secrets", "prompt_injection", "words", "topics", "webhook"] as const;

export const ACTIONS: Readonly<Record<"pii" | "secrets" | "injection" | "words" | "topics", readonly Action[]>> = {
  pii: MASKING,
  secrets: MASKING,
  injection: CHECKING,
  words: ["mask", "block", "report"],
  topics: CHECKING,
};

export function toValues(list: readonly Guardrail[]): GuardrailValues {
  const first = (type: string) => list.find((each) => each.type === type);
  const action = (type: string, standard: Action) => {
    const entry = first(type);
    return entry === undefined ? "off" : ((entry.action as Action | undefined) ?? standard);
  };
  const lines = (value: unknown) => (Array.isArray(value) ? value.join("\n") : "");
  return {
    pii: action("pii", "mask_and_restore"),
    secrets: action("secrets", "mask_and_restore"),
    injection: action("prompt_injection", "block"),
    words: action("words", "block"),
    wordList: lines(first("words")?.words),
    topics: action("topics", "block"),
    rules: lines(first("topics")?.rules),
    judge: (first("topics")?.model as string | undefined) ?? null,
    webhook: (first("webhook")?.webhook as string | undefined) ?? "",
  };
}

/** Changes the first guardrail of each type and keeps its place, its other fields and all further guardrails. */
export function toList(list: readonly Guardrail[], values: GuardrailValues): Guardrail[] {
  const changes: Record<(typeof TYPES)[number], Record<string, unknown> | undefined> = {
    pii: withAction(values.pii),
    secrets: withAction(values.secrets),
    prompt_injection: withAction(values.injection),
    words: withAction(values.words, { words: toLines(values.wordList) }),
    topics: withAction(values.topics, { rules: toLines(values.rules), model: values.judge }),
    webhook: values.webhook.trim() === "" ? undefined : { webhook: values.webhook.trim() },
  };
  const remaining = new Set<string>(TYPES);
  const parts = list.flatMap((entry) => {
    if (!remaining.delete(entry.type)) return [entry];
    const change = changes[entry.type as (typeof TYPES)[number]];
    return change === undefined ? [] : [{ ...entry, ...change }];
  });
  const added = TYPES.filter((type) => remaining.has(type)).flatMap((type) =>
    changes[type] === undefined ? [] : [{ type, ...changes[type] }],
  );
  return [...parts, ...added];
}

function withAction(action: Action, fields: Record<string, unknown> = {}): Record<string, unknown> | undefined {
  return action === "off" ? undefined : { ...fields, action };
}

function toLines(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
}
