import { lazy, Suspense } from "react";
import type { Artifact } from "../../../components/markdown/artifact.ts";
import { SideDrawer } from "../../../components/side-drawer.tsx";
import { t } from "../../../i18n/translate.ts";

/** Not part of the first load. */
const ArtifactPanel = lazy(async () => ({ default: (await import("./artifact-panel.tsx")).ArtifactPanel }));

interface ArtifactSideProps {
  artifact: Artifact | undefined;
  onClose: () => void;
  /** Whether there is room beside the conversation; otherwise it covers it. */
  isBeside: boolean;
}

/** The artifact that is open, beside the conversation or above it. */
export function ArtifactSide({ artifact, onClose, isBeside }: ArtifactSideProps) {
  if (artifact === undefined) return null;
  const panel = (
    <Suspense>
      <ArtifactPanel key={artifact.code} artifact={artifact} onClose={onClose} />
    </Suspense>
  );
  if (isBeside) return <aside className="artifact-side">{panel}</aside>;
  return (
    <Suspense>
      <SideDrawer
        opened
        onClose={onClose}
        position="right"
        size="100%"
        withCloseButton={false}
        attributes={{ content: { "aria-label": t("Artifact") } }}
        classNames={{ body: "artifact-drawer" }}
      >
        {panel}
      </SideDrawer>
    </Suspense>
  );
}
