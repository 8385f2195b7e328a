import type { ComponentType } from "react";
import type { SignedIn } from "../api/session.ts";
import {
  IconActivity,
  IconBook,
  IconBuilding,
  IconChartBar,
  IconCpu,
  IconGauge,
  IconHistory,
  IconMessage,
  IconMicrophone,
  IconSettings,
  IconShieldCheck,
  IconUsers,
  IconVectorTriangle,
  IconVolume,
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

/** Pages that the session's keys may use. */
export function navigationFor({ is_admin, organization }: SignedIn): NavigationGroup[] {
  const groups: NavigationGroup[] = [
    {
      label: "Playground",
      entries: [
        { to: "/chat", label: "Chat", icon: IconMessage },
        { to: "/speech", label: "Speech", icon: IconVolume },
        { to: "/transcription", label: "Transcription", icon: IconMicrophone },
        { to: "/moderation", label: "Moderation", icon: IconShieldCheck },
        { to: "/embeddings", label: "Embeddings", icon: IconVectorTriangle },
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
  const manage = [
    { to: "/projects", label: "Projects", icon: IconUsers },
    { to: "/organization", label: "Organization", icon: IconBuilding },
    { to: "/audit", label: "Audit log", icon: IconHistory },
    ...(organization.is_default ? [{ to: "/configuration", label: "Configuration", icon: IconSettings }] : []),
  ];
  if (is_admin) groups.push({ label: "Manage", entries: manage });
  groups.push({ label: "Help", entries: [{ to: "/reference", label: "API reference", icon: IconBook }] });
  return groups;
}
