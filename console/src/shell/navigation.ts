import type { ComponentType } from "react";
import { may, type SignedIn } from "../api/session.ts";
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
  label: string;
  entries: NavigationEntry[];
}

const YOURS: NavigationEntry[] = [
  { to: "/account", label: "Keys and access", icon: IconKey },
  { to: "/my-usage", label: "My usage", icon: IconCoin },
];

/** Pages that the session's keys may use. */
export function navigationFor(session: SignedIn): NavigationGroup[] {
  const { organization, user } = session;
  const groups: NavigationGroup[] = [
    {
      label: "Playground",
      entries: [
        { to: "/chat", label: "Chat", icon: IconMessage },
        { to: "/talk", label: "Talk", icon: IconHeadset },
        { to: "/speech", label: "Speech", icon: IconVolume },
        { to: "/transcription", label: "Transcription", icon: IconMicrophone },
        { to: "/images", label: "Images", icon: IconPhoto },
        { to: "/moderation", label: "Moderation", icon: IconShieldCheck },
        { to: "/embeddings", label: "Embeddings", icon: IconVectorTriangle },
      ],
    },
    {
      label: "Build",
      entries: [
        { to: "/prompts", label: "Prompts", icon: IconTemplate },
        { to: "/evals", label: "Evals", icon: IconChecklist },
        { to: "/mcp", label: "MCP servers", icon: IconPlug },
      ],
    },
    {
      label: "Monitor",
      entries: [
        { to: "/overview", label: "Overview", icon: IconGauge },
        { to: "/requests", label: "Requests", icon: IconActivity },
        { to: "/usage", label: "Usage", icon: IconChartBar },
        { to: "/models", label: "Models", icon: IconCpu },
      ],
    },
  ];
  groups.push({
    label: "Jobs",
    entries: [
      { to: "/batches", label: "Batches", icon: IconStack },
      { to: "/files", label: "Files", icon: IconFile },
      { to: "/stores", label: "Vector stores", icon: IconDatabase },
    ],
  });
  const isManager = session.is_admin || managedProjects(session).length > 0;
  const manage: NavigationEntry[] = [
    ...(isManager ? [{ to: "/projects", label: "Projects", icon: IconFolder }] : []),
    ...(may(session, "organization.read") ? [{ to: "/budgets", label: "Budgets", icon: IconCoin }] : []),
    ...(may(session, "organization.users.read") ? [{ to: "/people", label: "People", icon: IconUsers }] : []),
    ...(may(session, "organization.read") ? [{ to: "/organization", label: "Organization", icon: IconBuilding }] : []),
    ...(may(session, "organization.audit_logs.read") ? [{ to: "/audit", label: "Audit log", icon: IconHistory }] : []),
    ...(organization.is_default && session.is_admin
      ? [
          { to: "/connections", label: "Connections", icon: IconServer },
          { to: "/webhooks", label: "Webhooks", icon: IconWebhook },
          { to: "/configuration", label: "Configuration", icon: IconSettings },
        ]
      : []),
  ];
  if (user !== null) {
    groups.push({ label: "You", entries: YOURS });
  }
  if (manage.length > 0) groups.push({ label: "Manage", entries: manage });
  groups.push({ label: "Help", entries: [{ to: "/reference", label: "API reference", icon: IconBook }] });
  return groups;
}

/** Projects whose members or keys the user manages. */
function managedProjects({ user }: SignedIn): string[] {
  const isManaged = (permissions: string[]) => permissions.includes("project.members.read");
  return Object.entries(user?.access.projects ?? {}).flatMap(([id, permissions]) =>
    isManaged(permissions) ? [id] : [],
  );
}
