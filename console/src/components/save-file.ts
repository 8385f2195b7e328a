/** Has the browser save a text or bytes as a file. */
export function saveFile(name: string, content: BlobPart, type = "text/plain"): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
