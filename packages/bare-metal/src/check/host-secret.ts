/**
 * The Secret of a host: `username` and `password`, as in the public code of the predecessor, `tls.key` and `tls.crt`, as in its
 * design, or both.
 */
import type { HostProblem } from '../object/problem.js';

/** How an agent identifies itself to a management controller. */
export interface SecretContent {
  readonly hasPassword: boolean;
  /** A client certificate. */
  readonly hasCertificate: boolean;
  /** `ca.crt`: verifies the management controller. */
  readonly hasAuthority: boolean;
}

/** The keys of a Secret; values are only checked for whether they are empty. */
export type SecretData = Readonly<Record<string, unknown>>;

/** The content of a Secret. Half a pair counts as none. @param data - the data of the Secret, in base64 or as bytes. */
export function secretContent(data: SecretData): SecretContent {
  return {
    hasPassword: has(data, 'username') && has(data, 'password'),
    hasCertificate: has(data, 'tls.key') && has(data, 'tls.crt'),
    hasAuthority: has(data, 'ca.crt'),
  };
}

/**
 * The problems of the Secret that an object names; the text never contains a value of it.
 *
 * @param named - `path`: the field that names it, from the object's root.
 * @param data - undefined if the Secret does not exist.
 */
export function hostSecretProblems(named: NamedSecret, data: SecretData | undefined): HostProblem[] {
  const { path, namespace, name } = named;
  const secret = `Secret ${namespace}/${name}`;
  if (data === undefined) {
    const remedy = 'create it with username and password, or with tls.key and tls.crt';
    return [{ reason: 'secret-missing', path, message: `${secret} does not exist`, remedy }];
  }
  const halves = PAIRS.filter(([one, other]) => has(data, one) !== has(data, other)).map((pair): HostProblem => {
    const [missing, there] = has(data, pair[0]) ? [pair[1], pair[0]] : pair;
    return { reason: 'secret-incomplete', path, message: `${secret} has ${there} and no ${missing}`, remedy: `add ${missing}` };
  });
  const { hasPassword, hasCertificate } = secretContent(data);
  if (hasPassword || hasCertificate || halves.length > 0) return halves;
  const message = `${secret} has neither username and password nor tls.key and tls.crt`;
  return [{ reason: 'secret-incomplete', path, message, remedy: 'add one of the two pairs' }];
}

/** A Secret that an object names, and the field that names it. */
export interface NamedSecret {
  readonly path: readonly string[];
  readonly namespace: string;
  readonly name: string;
}

const PAIRS = [
  ['username', 'password'],
  ['tls.key', 'tls.crt'],
] as const;

function has(data: SecretData, key: string): boolean {
  const value = Object.hasOwn(data, key) ? data[key] : undefined;
  return (typeof value === 'string' || value instanceof Uint8Array) && value.length > 0;
}
