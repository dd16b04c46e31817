/** Removes credentials from texts that a service or Node wrote. */

/** Returns a text without credentials. */
export type Redact = (text: string) => string;

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Shorter user names are parts of other words. */
const SHORTEST_NAME = 3;

/** Returns a function that replaces each secret in a text by `***`, in capitals or not. Longer ones first: one may contain another. */
export function redactor(secrets: readonly string[]): Redact {
  const sorted = [...new Set(secrets)].filter((secret) => secret !== '').sort((one, other) => other.length - one.length);
  const patterns = sorted.map((secret) => new RegExp(secret.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'gi'));
  return (text) => patterns.reduce((current, pattern) => current.replaceAll(pattern, '***'), text);
}

/** The forms in which credentials appear in HTTP and in Secrets, without the user name alone. */
export function passwordFormsOf(credentials: Credentials | undefined): string[] {
  if (credentials === undefined) return [];
  const { username, password } = credentials;
  return [
    basicToken(credentials),
    `${username}:${password}`,
    password,
    encodeURIComponent(password),
    JSON.stringify(password).slice(1, -1),
    Buffer.from(password, 'utf8').toString('base64'),
  ];
}

/** The same, and the user name. */
export function secretsOf(credentials: Credentials | undefined): string[] {
  const name = credentials !== undefined && credentials.username.length >= SHORTEST_NAME ? [credentials.username] : [];
  return [...passwordFormsOf(credentials), ...name];
}

/** The credentials as `Authorization: Basic` has them. Source: RFC 7617 §2, with UTF-8. */
export function basicToken({ username, password }: Credentials): string {
  return Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
}
