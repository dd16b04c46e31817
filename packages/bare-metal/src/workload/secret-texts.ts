/** What is wrong with the Secrets of management controllers, for people. */

import { HOST_CREDENTIALS_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';
import { describeNames } from '@vmdhcp/kube-runtime';
import { hostSecretProblems, type SecretData } from '../check/host-secret.js';
import { describeHostProblem, type HostProblem } from '../object/problem.js';
import type { HostSecretReference } from './host-secrets.js';

export interface SecretFacts {
  /** Namespaces whose Secrets agents may read. */
  readonly allowed: readonly string[];
  /** The data of a Secret that is labelled as credentials of hosts; undefined if there is none. */
  readonly find: (key: string) => SecretData | undefined;
}

/** One text for each problem, with field and remedy; none for a Secret that can be used. Never with a value of it. */
export function secretTexts(secret: HostSecretReference, { allowed, find }: SecretFacts): readonly string[] {
  const { namespace, name } = secret;
  const data = find(`${namespace}/${name}`);
  const problems = allowed.includes(namespace)
    ? data === undefined
      ? [missing(secret)]
      : hostSecretProblems(secret, data)
    : [refused(secret, allowed)];
  return problems.map(describeHostProblem);
}

function missing({ namespace, name, path }: HostSecretReference): HostProblem {
  const label = `${HOST_CREDENTIALS_LABEL}=true`;
  const message = `Secret ${namespace}/${name} does not exist, or lacks the label ${label}, so agents may not read it`;
  const remedy = `create it with username and password, or with tls.key and tls.crt, then: kubectl -n ${namespace} label secret ${name} ${label}`;
  return { reason: 'secret-missing', path, message, remedy };
}

function refused({ namespace, name, path }: HostSecretReference, allowed: readonly string[]): HostProblem {
  const message = `agents may read no Secret of namespace ${namespace}, as Secret ${namespace}/${name}; they may read those of ${describeNames(allowed)}`;
  const remedy =
    'allow it (--bare-metal-secret-namespace of the controller, bareMetal.secretNamespaces of the chart), or move the Secret';
  return { reason: 'secret-missing', path, message, remedy };
}
