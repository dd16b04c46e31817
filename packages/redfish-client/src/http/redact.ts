/** Removes credentials from texts that a service or Node wrote. */

/** Shorter user names are parts of other words. */
const SHORTEST_NAME = 3;

/** Returns a function that replaces each secret in a text by `***`. Longer ones first: one may contain another. */
export function redactor(secrets: readonly string[]): (text: string) => string {
  const sorted = [...new Set(secrets)].filter((secret) => secret !== '').sort((one, other) => other.length - one.length);
  return (text) => sorted.reduce((current, secret) => current.replaceAll(secret, '***'), text);
}

/** The forms in which credentials appear in HTTP. */
export function secretsOf(credentials: { readonly username: string; readonly password: string } | undefined): string[] {
  if (credentials === undefined) return [];
  const { username, password } = credentials;
  return [
    basicToken(credentials),
    password,
    encodeURIComponent(password),
    JSON.stringify(password).slice(1, -1),
    ...(username.length >= SHORTEST_NAME ? [username] : []),
  ];
}

/** The credentials as `Authorization: Basic` has them. Source: RFC 7617 §2, with UTF-8. */
export function basicToken({ username, password }: { readonly username: string; readonly password: string }): string {
  return Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
}
