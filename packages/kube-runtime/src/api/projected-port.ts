import type { ApiObjectLike } from '../object/api-object.js';
import type { ResourcePort, WatchEvent } from './resource-port.js';

/** The same objects, each reduced by `project` before anything keeps it: what a cache does not need costs no memory. */
export function projectedPort<Kind extends ApiObjectLike>(
  port: ResourcePort<Kind>,
  project: (object: Kind) => Kind,
): ResourcePort<Kind> {
  const projectEvent = (event: WatchEvent<Kind>): WatchEvent<Kind> =>
    event.type === 'bookmark' ? event : { ...event, object: project(event.object) };
  return {
    list: async (options) => {
      const page = await port.list(options);
      return { ...page, items: page.items.map(project) };
    },
    watch: (resourceVersion, { onEvent, onEnd }) =>
      port.watch(resourceVersion, { onEvent: (event) => onEvent(projectEvent(event)), onEnd }),
  };
}
