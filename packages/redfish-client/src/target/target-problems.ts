import type { RedfishTarget } from './redfish-target.js';

/** The problems of a target, each as a sentence without values of the credentials. Empty if there are none. */
export function targetProblems(target: RedfishTarget): string[] {
  const { host, port, credentials } = target;
  const problems: string[] = [];
  if (!/^[\w.:%-]{1,255}$/.test(host)) problems.push('host is neither an address nor a DNS name');
  if (!Number.isInteger(port) || port < 1 || port > 65_535) problems.push('port is not a number from 1 to 65535');
  if (credentials !== undefined) problems.push(...credentialProblems(credentials));
  return problems;
}

function credentialProblems({ username, password }: { username: string; password: string }): string[] {
  const problems: string[] = [];
  if (username === '' || password === '') problems.push('the username or the password is empty');
  if (username.includes(':')) problems.push('the username contains a colon, which HTTP does not allow');
  if (hasControl(username) || hasControl(password))
    problems.push('the username or the password contains a control character, such as a line break at its end');
  return problems;
}

function hasControl(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** `10.0.0.10:443`, `[fd00::1]:443`: a target in messages. */
export function describeTarget({ host, port }: Pick<RedfishTarget, 'host' | 'port'>): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}
