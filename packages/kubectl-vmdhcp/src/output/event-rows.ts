import type { ListedKind } from '@vmdhcp/explain/observe';
import { EVENT_COMPONENT, Resource } from '@vmdhcp/ippool-api/resources';
import { type KubernetesObject, readField, readText } from '@vmdhcp/kube-runtime';

/** An Event that the controller wrote. */
export interface EventRow {
  readonly namespace: string;
  readonly lastSeen: string;
  readonly type: string;
  readonly reason: string;
  readonly object: string;
  readonly count: number;
  readonly message: string;
  readonly name: string;
}

function toRow(event: KubernetesObject): EventRow {
  const { namespace = '', name, creationTimestamp = '' } = event.metadata;
  const [kind, regarding] = ['kind', 'name'].map((field) => readText(event, 'involvedObject', field) ?? '');
  const count = readField(event, 'count');
  return {
    namespace,
    name,
    lastSeen: readText(event, 'lastTimestamp') ?? creationTimestamp,
    type: readText(event, 'type') ?? '',
    reason: readText(event, 'reason') ?? '',
    object: `${kind}/${regarding}`,
    count: typeof count === 'number' ? count : 1,
    message: readText(event, 'message') ?? '',
  };
}

export const EVENTS: ListedKind<EventRow> = {
  resource: { ...Resource.events, fieldSelector: `source=${EVENT_COMPONENT}` },
  toRows: (object) => [toRow(object)],
  nameOf: ({ name }) => `event/${name}`,
  sortBy: ({ lastSeen }) => lastSeen,
  isShortLived: true,
  columns: [
    { header: 'NAMESPACE', value: ({ namespace }) => namespace },
    { header: 'LASTSEEN', value: ({ lastSeen }) => lastSeen },
    { header: 'TYPE', value: ({ type }) => type, isWide: true },
    { header: 'COUNT', value: ({ count }) => String(count), isWide: true },
    { header: 'REASON', value: ({ reason }) => reason },
    { header: 'OBJECT', value: ({ object }) => object },
    { header: 'MESSAGE', value: ({ message }) => message },
  ],
};
