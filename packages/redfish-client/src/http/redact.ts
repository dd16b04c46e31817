/** Removes credentials from texts that a service or Node wrote. */

/** Returns a text without credentials. */
export type Redact = (text: string) => string;

interface Credentials {
  readonly username: string;
  readonly password: string;
}

/** Shorter user names occur inside other words. */
const SHORTEST_NAME = 3;

/** Returns a function that replaces each secret in a text by `***`, in capitals or not. Longer ones first: one may contain another. */
export function redactor(secrets: readonly string[]): Redact {
  const patterns = longestFirst(secrets.filter((secret) => secret !== '')).map((secret) => new RegExp(escaped(secret), 'gi'));
  return (text) => patterns.reduce((current, pattern) => current.replaceAll(pattern, '***'), text);
}

/** The forms in which credentials appear in HTTP and in Secrets, except the user name alone. */
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

/** Shorter passwords and tokens occur inside other words and numbers. */
const SHORTEST_WORD = 6;

/**
 * Returns a function that removes secrets from a value of a report if they are whole words, or the whole value for a short password. A secret inside
 * another word stays: `***istrator` for `administrator` would reveal the password, and destroy the value.
 *
 * @param token - of a session.
 */
export function reportRedactor(credentials: Credentials | undefined, token?: string): Redact {
  const forms = [...passwordFormsOf(credentials), ...(token === undefined ? [] : [token])].filter((form) => form !== '');
  const patterns = longestFirst(forms.filter((form) => form.length >= SHORTEST_WORD)).map(wordPattern);
  const wholes = new Set(forms.filter((form) => form.length < SHORTEST_WORD).map((form) => form.toLowerCase()));
  return (text) =>
    wholes.has(text.trim().toLowerCase())
      ? '***'
      : patterns.reduce((current, pattern) => current.replaceAll(pattern, '***'), text);
}

/** The same, and the user name. */
export function secretsOf(credentials: Credentials | undefined): string[] {
  const name = credentials !== undefined && credentials.username.length >= SHORTEST_NAME ? [credentials.username] : [];
  return [...passwordFormsOf(credentials), ...name];
}

/** The credentials as in `Authorization: Basic`. Source: RFC 7617 §2, with UTF-8. */
export function basicToken({ username, password }: Credentials): string {
  return Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
}

function longestFirst(secrets: readonly string[]): string[] {
  return [...new Set(secrets)].sort((one, other) => other.length - one.length);
}

/** Matches only whole words: a secret that begins or ends with a letter or digit has none next to it. */
function wordPattern(secret: string): RegExp {
  const before = /^[\p{L}\p{N}_]/u.test(secret) ? '(?<![\\p{L}\\p{N}_])' : '';
  const after = /[\p{L}\p{N}_]$/u.test(secret) ? '(?![\\p{L}\\p{N}_])' : '';
  return new RegExp(`${before}${escaped(secret)}${after}`, 'giu');
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
