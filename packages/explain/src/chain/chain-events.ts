import { type KubernetesObject, readText } from '@vmdhcp/kube-runtime';

export interface ReadEvent {
  readonly reason: string;
  readonly message: string;
}

/** The Events about one object, newest first. The namespace is empty for an object without one. */
export function eventsAbout(
  events: readonly KubernetesObject[],
  kind: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): ReadEvent[] {
  const about = events.filter((event) => {
    const [isKind, isName] = [
      readText(event, 'involvedObject', 'kind') === kind,
      readText(event, 'involvedObject', 'name') === name,
    ];
    return isKind && isName && (readText(event, 'involvedObject', 'namespace') ?? '') === namespace;
  });
  const times = about.map((event) => ({ event, time: readText(event, 'lastTimestamp') ?? '' }));
  return times
    .toSorted((one, other) => (one.time < other.time ? 1 : one.time > other.time ? -1 : 0))
    .map(({ event }) => ({ reason: readText(event, 'reason') ?? '', message: readText(event, 'message') ?? '' }));
}
