import { describe, expect, it } from 'vitest';
import type { KubernetesObject } from '../object/kubernetes-object.js';
import { projectedPort } from './projected-port.js';
import type { WatchEnd, WatchEvent, WatchHandlers } from './resource-port.js';

const object = (name: string, spec?: unknown): KubernetesObject => ({ metadata: { name }, ...(spec !== undefined && { spec }) });

function setUp() {
  const log: (WatchEvent<KubernetesObject> | WatchEnd | 'stopped')[] = [];
  let handlers: WatchHandlers<KubernetesObject> | undefined;
  const port = projectedPort<KubernetesObject>(
    {
      list: async () => ({ items: [object('a', 1), object('b', 2)], resourceVersion: '5', continueToken: 'next' }),
      watch: (_, given) => {
        handlers = given;
        return () => log.push('stopped');
      },
    },
    ({ metadata }) => {
      if (metadata.name === 'bad') throw new Error('no way');
      return { metadata };
    },
  );
  const stop = port.watch('5', { onEvent: (event) => log.push(event), onEnd: (end) => log.push(end) });
  return { port, log, stop, handlers: handlers as unknown as WatchHandlers<KubernetesObject> };
}

describe('projectedPort', () => {
  it('reduces the objects of lists, and keeps what else a list has', async () => {
    const { port } = setUp();
    expect(await port.list({ limit: 2 })).toEqual({
      items: [object('a'), object('b')],
      resourceVersion: '5',
      continueToken: 'next',
    });
  });

  it('reduces the objects of events; bookmarks have none', () => {
    const { log, handlers, stop } = setUp();
    handlers.onEvent({ type: 'added', object: object('a', 1) });
    handlers.onEvent({ type: 'bookmark', resourceVersion: '7' });
    handlers.onEvent({ type: 'deleted', object: object('a', 1) });
    handlers.onEnd({ kind: 'closed' });
    stop();
    expect(log).toEqual([
      { type: 'added', object: object('a') },
      { type: 'bookmark', resourceVersion: '7' },
      { type: 'deleted', object: object('a') },
      { kind: 'closed' },
      'stopped',
    ]);
  });

  it('a watch fails once if an object cannot be reduced', () => {
    const { log, handlers } = setUp();
    handlers.onEvent({ type: 'added', object: object('bad') });
    handlers.onEvent({ type: 'added', object: object('a') });
    handlers.onEnd({ kind: 'closed' });
    expect(log).toEqual(['stopped', { kind: 'failed', error: new Error('no way') }]);
  });
});
