import type { ApiObjectLike } from '../object/api-object.js';
import type { ResourcePort, WatchEvent } from './resource-port.js';

/**
 * The same objects, each reduced by `project` before it is stored, so that unneeded fields cost no memory. If `project` throws, the list or watch
 * fails.
 */
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
    watch: (resourceVersion, { onEvent, onEnd }) => {
      let isOver = false;
      let stop: () => void = () => undefined;
      const fail = (error: unknown) => {
        isOver = true;
        stop();
        onEnd({ kind: 'failed', error });
      };
      stop = port.watch(resourceVersion, {
        onEvent: (event) => {
          if (isOver) return;
          let projected: WatchEvent<Kind>;
          try {
            projected = projectEvent(event);
          } catch (error) {
            fail(error);
            return;
          }
          onEvent(projected);
        },
        onEnd: (end) => {
          if (!isOver) onEnd(end);
        },
      });
      if (isOver) stop();
      return stop;
    },
  };
}
