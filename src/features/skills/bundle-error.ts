/** What is wrong with the files of a skill; the message is safe to show. */
export class BundleError extends Error {}

export function tooLargeForContainer(maxBytes: number): string {
  return `Its files have more than ${maxBytes} bytes, the limit of a container.`;
}

/** Shows a path of a client in a message. */
export function shown(path: string): string {
  return JSON.stringify(path.slice(0, 100));
}
