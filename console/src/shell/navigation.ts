import type { ComponentType } from "react";
import { may, type SignedIn } from "../api/session.ts";
import { t } from "../i18n/translate.ts";
import {
  IconActivity,
  IconBook,
  IconBuilding,
  IconChartBar,
  IconChecklist,
  IconCoin,
  IconCpu,
  IconDatabase,
  IconFile,
  IconFolder,
  IconGauge,
  IconHeadset,
  IconHistory,
  IconKey,
  IconMessage,
  IconMicrophone,
  IconPhoto,
  IconPlug,
  IconServer,
  IconSettings,
  IconShieldCheck,
  IconStack,
  IconTemplate,
  IconUsers,
  IconVectorTriangle,
  IconVolume,
  IconWebhook,
} from "../icons.tsx";

interface NavigationEntry {
  to: string;
  label: string;
  icon: ComponentType<{ size?: number; stroke?: number }>;
}

export interface NavigationGroup {
  id: string;
  label: string;
  entries: NavigationEntry[];
}

/** Pages that the session's keys may use. */
export function navigationFor(session: SignedIn): NavigationGroup[] {
  const { organization, user } = session;
  const groups: NavigationGroup[] = [
    {
      id: "playground",
      label: t("Playground"),
      entries: [
        { to: "/chat", label: t("Chat"), icon: IconMessage },
        { to: "/talk", label: t("Talk"), icon: IconHeadset },
        { to: "/speech", label: t("Speech"), icon: IconVolume },
        { to: "/transcription", label: t("Transcription"), icon: IconMicrophone },
        { to: "/images", label: t("Images"), icon: IconPhoto },
        { to: "/moderation", label: t("Moderation"), icon: IconShieldCheck },
        { to: "/embeddings", label: t("Embeddings"), icon: IconVectorTriangle },
      ],
    },
    {
      id: "build",
      label: t("Build"),
      entries: [
        { to: "/prompts", label: t("Prompts"), icon: IconTemplate },
        { to: "/evals", label: t("Evals"), icon: IconChecklist },
        { to: "/mcp", label: t("MCP servers"), icon: IconPlug },
      ],
    },
    {
      id: "monitor",
      label: t("Monitor"),
      entries: [
        { to: "/overview", label: t("Overview"), icon: IconGauge },
        { to: "/requests", label: t("Requests"), icon: IconActivity },
        { to: "/usage", label: t("Usage"), icon: IconChartBar },
        { to: "/models", label: t("Models"), icon: IconCpu },
      ],
    },
  ];
  groups.push({
    id: "jobs",
    label: t("Jobs"),
    entries: [
      { to: "/batches", label: t("Batches"), icon: IconStack },
      { to: "/files", label: t("Files"), icon: IconFile },
      { to: "/stores", label: t("Vector stores"), icon: IconDatabase },
    ],
  });
  const isManager = session.is_admin || managedProjects(session).length > 0;
  const manage: NavigationEntry[] = [
    ...(isManager ? [{ to: "/projects", label: t("Projects"), icon: IconFolder }] : []),
    ...(may(session, "organization.read") ? [{ to: "/budgets", label: t("Budgets"), icon: IconCoin }] : []),
    ...(may(session, "organization.users.read") ? [{ to: "/people", label: t("People"), icon: IconUsers }] : []),
    ...(may(session, "organization.read")
      ? [{ to: "/organization", label: t("Organization"), icon: IconBuilding }]
      : []),
    ...(may(session, "organization.audit_logs.read")
      ? [{ to: "/audit", label: t("Audit log"), icon: IconHistory }]
      : []),
    ...(organization.is_default && session.is_admin
      ? [
          { to: "/connections", label: t("Connections"), icon: IconServer },
          { to: "/webhooks", label: t("Webhooks"), icon: IconWebhook },
          { to: "/configuration", label: t("Configuration"), icon: IconSettings },
        ]
      : []),
  ];
  if (user !== null) {
    groups.push({
      id: "you",
      label: t("You"),
      entries: [
        { to: "/account", label: t("Keys and access"), icon: IconKey },
        { to: "/my-usage", label: t("My usage"), icon: IconCoin },
      ],
    });
  }
  if (manage.length > 0) groups.push({ id: "manage", label: t("Manage"), entries: manage });
  groups.push({
    id: "help",
    label: t("Help"),
    entries: [{ to: "/reference", label: t("API reference"), icon: IconBook }],
  });
  return groups;
}

/** Projects whose members or keys the user manages. */
function managedProjects({ user }: SignedIn): string[] {
  const isManaged = (permissions: string[]) => permissions.includes("project.members.read");
  return Object.entries(user?.access.projects ?? {}).flatMap(([id, permissions]) =>
    isManaged(permissions) ? [id] : [],
  );
}
