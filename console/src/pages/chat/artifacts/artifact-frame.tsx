import { Alert } from "@mantine/core";
import { useRef, useState } from "react";
import { urlOf } from "../../../api/request.ts";
import type { Artifact } from "../../../components/markdown/artifact.ts";
import { t } from "../../../i18n/translate.ts";
import { frameDocument } from "./frame-document.ts";

/** The frame's page, and what the artifact writes in its place. A third document is one that a script went to. */
const MAX_LOADS = 2;

/**
 * Runs an artifact in an opaque origin: its scripts have no access to the console, its storage and its session, and the
 * policy of the frame's page (`/console/artifact`) refuses every connection.
 */
export function ArtifactFrame({ artifact }: { artifact: Artifact }) {
  const frame = useRef<HTMLIFrameElement>(null);
  const loads = useRef(0);
  const [hasLeft, setHasLeft] = useState(false);
  if (hasLeft) {
    return (
      <Alert color="yellow" m="md" role="alert">
        {t("The artifact tried to open another page and was closed.")}
      </Alert>
    );
  }
  const onLoad = () => {
    loads.current += 1;
    if (loads.current > MAX_LOADS) setHasLeft(true);
    // An opaque origin has no name to send to.
    if (loads.current === 1) frame.current?.contentWindow?.postMessage({ html: frameDocument(artifact) }, "*");
  };
  return (
    <iframe
      ref={frame}
      className="artifact-frame"
      title={t("Artifact")}
      sandbox="allow-scripts"
      referrerPolicy="no-referrer"
      src={urlOf("console/artifact")}
      onLoad={onLoad}
    />
  );
}
