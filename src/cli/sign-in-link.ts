/** Returns a link to the console. Browsers send no fragment, so that proxies and previews of links do not see the code. */
export function signInLink(origin: string, code: string): string {
  return `${origin}/#/sign-in?code=${code}`;
}
