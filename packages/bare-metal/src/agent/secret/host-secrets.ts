/**
 * Reads the Secrets of hosts, each by its name, and nothing else in their namespaces. Up to a limit, Secrets in use are watched;
 * the others are read at each poll, so that a rack with one Secret for each host does not hold a connection for each.
 */

import { HOST_CREDENTIALS_LABEL } from '@vmdhcp/ippool-api/bare-metal/keys';
import type { CacheSubscription } from '@vmdhcp/kube-runtime';
import { readField } from '@vmdhcp/kube-runtime';
import { hostSecretProblems, type SecretData } from '../../check/host-secret.js';
import type { HostConnection } from '../../host/cluster-agent-settings.js';
import { describeHostProblem } from '../../object/problem.js';
import type { HostAgentPorts } from '../ports.js';

/** The credentials of a host. */
export type HostSecret =
  /** `data` is undefined if the host names no Secret. */
  | { readonly kind: 'ready'; readonly data: SecretData | undefined }
  /** `message`: what is wrong and what to do, without a value of the Secret. */
  | { readonly kind: 'problem'; readonly message: string };

interface SecretName {
  readonly namespace: string;
  readonly name: string;
}

const MOST_WATCHED = 64;
const MOST_WAIT_MS = 10_000;
const PATH = ['status', 'basic', 'secretName'];

export class HostSecrets {
  readonly #ports: HostAgentPorts;
  readonly #onChange: (key: string) => void;
  readonly #watched = new Map<string, WatchedSecret>();
  /** Keys of Secrets that may not be read: each is reported once, until it may be read. */
  readonly #forbidden = new Set<string>();

  /** @param onChange - called when the content of a watched Secret changed. */
  constructor(ports: HostAgentPorts, onChange: (key: string) => void) {
    this.#ports = ports;
    this.#onChange = onChange;
  }

  /** Sets the hosts that are followed: Secrets that none of them names are no longer watched. */
  follow(connections: Iterable<HostConnection>): void {
    const names = new Map([...connections].flatMap((one) => entryOf(one)));
    for (const [key, watched] of this.#watched) {
      if (names.has(key)) continue;
      watched.stop();
      this.#watched.delete(key);
    }
    for (const [key, name] of names) {
      if (this.#watched.size >= MOST_WATCHED) return;
      if (!this.#watched.has(key))
        this.#watched.set(
          key,
          this.#read(key, name, () => this.#onChange(key)),
        );
    }
  }

  /** The current Secret of a host, or why it cannot be used. Never rejects; takes at most ten seconds. */
  async of(connection: HostConnection): Promise<HostSecret> {
    const [entry] = entryOf(connection);
    if (entry === undefined) return { kind: 'ready', data: undefined };
    const [key, name] = entry;
    const watched = this.#watched.get(key);
    if (watched !== undefined) return watched.read();
    const once = this.#read(key, name, () => undefined);
    const secret = await once.read();
    once.stop();
    return secret;
  }

  stop(): void {
    for (const watched of this.#watched.values()) watched.stop();
    this.#watched.clear();
  }

  #read(key: string, name: SecretName, onChange: () => void): WatchedSecret {
    return new WatchedSecret(this.#ports, name, {
      onChange,
      onRead: () => void this.#forbidden.delete(key),
      onError: (error) => {
        if (this.#forbidden.has(key)) return;
        if (isForbidden(error)) this.#forbidden.add(key);
        const reported = isForbidden(error) ? new Error(forbiddenText(name), { cause: error }) : error;
        this.#ports.observer.observe({ kind: 'read-failed', plural: 'secrets', error: reported });
      },
    });
  }
}

/** `namespace/name` of the Secret of a host; undefined if it needs none. */
export function secretKeyOf({ secretName, secretNamespace }: HostConnection): string | undefined {
  return secretName === undefined ? undefined : `${secretNamespace}/${secretName}`;
}

function entryOf(connection: HostConnection): [] | [[key: string, name: SecretName]] {
  const key = secretKeyOf(connection);
  const { secretName: name = '', secretNamespace: namespace = '' } = connection;
  return key === undefined ? [] : [[key, { namespace, name }]];
}

function isForbidden(error: unknown): boolean {
  return readField(error, 'status') === 403;
}

function forbiddenText({ namespace, name }: SecretName): string {
  return `Secret ${namespace}/${name} may not be read by this agent: label it (kubectl -n ${namespace} label secret ${name} ${HOST_CREDENTIALS_LABEL}=true), and allow its namespace (bareMetal.secretNamespaces of the chart, --bare-metal-secret-namespace of the controller)`;
}

interface SecretEvents {
  readonly onChange: () => void;
  readonly onRead: () => void;
  readonly onError: (error: unknown) => void;
}

class WatchedSecret {
  readonly #ports: HostAgentPorts;
  readonly #name: SecretName;
  readonly #subscription: CacheSubscription;
  #error: unknown;
  /** Called when a list came, or failed. */
  #waiting: (() => void)[] = [];

  constructor(ports: HostAgentPorts, name: SecretName, { onChange, onRead, onError }: SecretEvents) {
    this.#ports = ports;
    this.#name = name;
    const resource = { group: '', version: 'v1', plural: 'secrets', namespaced: true };
    const selection = { namespace: name.namespace, fieldSelector: `metadata.name=${name.name}` };
    this.#subscription = ports.caches.subscribe(
      { ...resource, ...selection },
      {
        onChange: () => {
          if (this.#subscription.synced) onChange();
        },
        onListed: () => {
          this.#error = undefined;
        },
        onSynced: () => {
          onRead();
          this.#answer();
        },
        onError: (error) => {
          this.#error = error;
          onError(error);
          this.#answer();
        },
      },
    );
    this.#subscription.start();
  }

  async read(): Promise<HostSecret> {
    if (!this.#subscription.synced) await this.#firstList();
    // The right may have been revoked: what was read before is no longer used.
    return this.#subscription.synced && !isForbidden(this.#error) ? this.#content() : this.#unread();
  }

  stop(): void {
    this.#subscription.stop();
    this.#answer();
  }

  #content(): HostSecret {
    const { namespace, name } = this.#name;
    const object = this.#subscription.get(`${namespace}/${name}`);
    if (object !== undefined && object.metadata.labels?.[HOST_CREDENTIALS_LABEL] !== 'true')
      return { kind: 'problem', message: forbiddenText(this.#name) };
    const data = object && ((readField(object, 'data') ?? {}) as SecretData);
    const problems = hostSecretProblems({ path: PATH, namespace, name }, data);
    return problems.length === 0
      ? { kind: 'ready', data }
      : { kind: 'problem', message: problems.map(describeHostProblem).join('; ') };
  }

  #unread(): HostSecret {
    const { namespace, name } = this.#name;
    if (isForbidden(this.#error)) return { kind: 'problem', message: forbiddenText(this.#name) };
    const why = this.#error instanceof Error ? this.#error.message : 'the API server does not answer';
    return { kind: 'problem', message: `Secret ${namespace}/${name} cannot be read: ${why}` };
  }

  async #firstList(): Promise<void> {
    await new Promise<void>((resolve) => {
      const callOff = this.#ports.clock.after(MOST_WAIT_MS, resolve);
      this.#waiting.push(() => {
        callOff();
        resolve();
      });
    });
  }

  #answer(): void {
    for (const answer of this.#waiting.splice(0)) answer();
  }
}
