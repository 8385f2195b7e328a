import { type DragEvent, useState } from "react";

/** Properties of an element onto which files can be dropped. Other things that are dragged are left to the browser. */
export function useFileDrop(onFiles: (files: File[]) => void) {
  const [isOver, setIsOver] = useState(false);
  return {
    className: "drop-zone",
    "data-over": isOver || undefined,
    onDragOver(event: DragEvent) {
      // untranslated: a type of the browser
      if (!event.dataTransfer.types.includes("Files")) return;
      event.preventDefault();
      setIsOver(true);
    },
    onDragLeave: () => setIsOver(false),
    onDrop(event: DragEvent) {
      setIsOver(false);
      const files = [...event.dataTransfer.files];
      if (files.length === 0) return;
      event.preventDefault();
      onFiles(files);
    },
  };
}
