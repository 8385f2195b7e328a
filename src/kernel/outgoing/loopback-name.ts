const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;

/** Whether the host name of a URL is one of this machine. */
export function isLoopbackName(hostname: string): boolean {
  return LOOPBACK.test(hostname);
}
