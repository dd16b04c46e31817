/** What is wrong with the Secrets of management controllers, for people. */
import { describeHostProblem, type HostProblem, hostSecretProblems, type SecretData } from '@vmdhcp/host-inventory';
import { describeNames } from '@vmdhcp/kube-runtime';
import type { HostSecret } from './host-secrets.js';

export interface SecretFacts {
  /** Namespaces whose Secrets agents may read. */
  readonly allowed: readonly string[];
  /** The data of a Secret; undefined: it does not exist. */
  readonly find: (key: string) => SecretData | undefined;
}

/** One text for each problem, with field and remedy; none for a Secret that can be used. Never with a value of it. */
export function secretTexts(secret: HostSecret, { allowed, find }: SecretFacts): readonly string[] {
  const { namespace, name } = secret;
  const problems = allowed.includes(namespace)
    ? hostSecretProblems(secret, find(`${namespace}/${name}`))
    : [refused(secret, allowed)];
  return problems.map(describeHostProblem);
}

function refused({ namespace, name, path }: HostSecret, allowed: readonly string[]): HostProblem {
  const message = `agents may read no Secret of namespace ${namespace}, as Secret ${namespace}/${name}; they may read those of ${describeNames(allowed)}`;
  const remedy =
    'allow it (--bare-metal-secret-namespace of the controller, bareMetal.secretNamespaces of the chart), or move the Secret';
  return { reason: 'secret-missing', path, message, remedy };
}
