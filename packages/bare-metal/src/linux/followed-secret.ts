import { type CacheSubscription, isRecord, readField, type SharedCaches } from '@vmdhcp/kube-runtime';
import type { SecretData } from '../check/host-secret.js';
import type { HostConnection } from '../host/cluster-agent-settings.js';
import { secretResource } from './secret-resource.js';

interface Followed {
  readonly key: string;
  readonly subscription: CacheSubscription;
}

/** The default Secret of the hosts of a ClusterAgent, whichever it names now. */
export class FollowedSecret {
  readonly #caches: SharedCaches;
  readonly #onChange: () => void;
  #followed: Followed | undefined;

  constructor(caches: SharedCaches, onChange: () => void) {
    this.#caches = caches;
    this.#onChange = onChange;
  }

  /** Its data; undefined if it does not exist; `unread` if it is not known yet, or none is named. */
  get data(): SecretData | undefined | 'unread' {
    if (this.#followed === undefined || !this.#followed.subscription.synced) return 'unread';
    const secret = this.#followed.subscription.get(this.#followed.key);
    if (secret === undefined) return undefined;
    const data = readField(secret, 'data');
    return isRecord(data) ? data : {};
  }

  /** Follows only the Secret that the connection names. */
  follow({ secretName, secretNamespace }: Pick<HostConnection, 'secretName' | 'secretNamespace'>): void {
    const key = secretName === undefined || secretNamespace === undefined ? undefined : `${secretNamespace}/${secretName}`;
    if (key === this.#followed?.key) return;
    this.stop();
    if (key === undefined || secretName === undefined || secretNamespace === undefined) return;
    const subscription = this.#caches.subscribe(secretResource(secretNamespace, secretName), {
      onChange: this.#onChange,
      onSynced: this.#onChange,
    });
    this.#followed = { key, subscription };
    subscription.start();
  }

  stop(): void {
    this.#followed?.subscription.stop();
    this.#followed = undefined;
  }
}
