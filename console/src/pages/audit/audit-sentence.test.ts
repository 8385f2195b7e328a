import { expect, test } from "vitest";
import { type AuditEvent, namesIn, sentenceOf } from "./audit-sentence.ts";

const NAMES = new Map([
  ["user_1", "Ada"],
  ["user_2", "Grace"],
  ["role_9", "Auditor"],
  ["org_1", "Acme"],
]);
const ADA = { type: "session", session: { ip_address: null, user_agent: null, user: { id: "user_1" } } } as const;

function event(type: string, subject: object, rest: Partial<AuditEvent> = {}): AuditEvent {
  return {
    id: "audit_1",
    object: "organization.audit_log",
    type,
    effective_at: 1,
    actor: ADA,
    ...rest,
    [type]: subject,
  };
}

test.each<[string, object, string]>([
  [
    "project.updated",
    { id: "proj_1", changes_requested: { spend_limit: { threshold_cents: 5000, is_enforcing: true } } },
    "Ada set the spend limit of the project Search to $50.00",
  ],
  [
    "project.updated",
    { id: "proj_1", changes_requested: { spend_limit: null } },
    "Ada removed the spend limit of the project Search",
  ],
  [
    "project.updated",
    { id: "proj_1", changes_requested: { key_rules: {} } },
    "Ada changed the project Search: key rules",
  ],
  [
    "role.assignment.created",
    { id: "role_9", data: { principal_id: "user_2", role_id: "role_9" } },
    "Ada gave Grace the role Auditor",
  ],
  ["invite.sent", { id: "invite_1", data: { email: "new@example.com" } }, "Ada invited new@example.com"],
  ["user.updated", { id: "user_2", changes_requested: { is_disabled: true } }, "Ada disabled Grace"],
  [
    "user.updated",
    { id: "user_2", changes_requested: { linked_provider: "idp" } },
    "Grace was linked with the sign-on provider idp",
  ],
  [
    "configuration.updated",
    { id: "3", changes_requested: { entries: [{ kind: "model", name: "team-chat" }] } },
    "Ada changed the configuration: team-chat",
  ],
  ["console_sign_in_code.created", { id: "code_1" }, "Ada created a sign-in link of the operator"],
  ["login.succeeded", { id: "user_1" }, "Ada signed in"],
])("writes %s as a sentence", (type, subject, sentence) => {
  const written = event(type, subject, { project: { id: "proj_1", name: "Search" } });
  expect(sentenceOf(written, new Map([...NAMES, ...namesIn([written])]))).toBe(sentence);
});

test("names a key that is revoked by the event that created it, and an actor without a name by the end of its ID", () => {
  const id = "key_0123456789abcdef0123456789abcdef";
  const revoked = event("api_key.deleted", { id }, { actor: { type: "api_key", api_key: { id, type: "user" } } });
  const made = event("api_key.created", { id, data: { name: "Robot" } });
  expect(sentenceOf(revoked, namesIn([revoked, made]))).toBe("Robot revoked the key Robot");
  expect(sentenceOf(revoked, new Map())).toBe("The key …abcdef revoked the key …abcdef");
});
