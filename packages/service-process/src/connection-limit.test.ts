import { EventEmitter } from 'node:events';
import type { Server, Socket } from 'node:net';
import { expect, it } from 'vitest';
import { limitConnections } from './connection-limit.js';

/** A server with at most three connections, and the numbers of the open ones. */
function limited() {
  const server = new EventEmitter();
  const { keep } = limitConnections(server as Server, 3);
  const open = new Map<number, Socket>();
  const connect = (...ports: readonly number[]) => {
    for (const remotePort of ports) {
      const socket = Object.assign(new EventEmitter(), { remoteAddress: '10.0.0.1', remotePort });
      const destroy = () => {
        open.delete(remotePort);
        socket.emit('close');
      };
      open.set(remotePort, Object.assign(socket, { destroy }) as unknown as Socket);
      server.emit('connection', open.get(remotePort));
    }
    return [...open.keys()];
  };
  const use = (port: number) => keep(open.get(port) as Socket);
  return { connect, use, end: (port: number) => open.get(port)?.destroy() };
}

it('the allowed number of connections stays open, and one more closes the oldest', () => {
  const { connect } = limited();
  expect(connect(1, 2, 3)).toEqual([1, 2, 3]);
  expect(connect(4)).toEqual([2, 3, 4]);
  expect(connect(5, 6)).toEqual([4, 5, 6]);
});

it('a useful connection is closed after useless ones', () => {
  const { connect, use } = limited();
  connect(1, 2, 3);
  use(1);
  expect(connect(4)).toEqual([1, 3, 4]);
  expect(connect(5)).toEqual([1, 4, 5]);
});

it('if all were useful, the least recently used one is closed, but not the new one', () => {
  const { connect, use } = limited();
  connect(1, 2, 3);
  for (const port of [1, 2, 3, 1]) use(port);
  expect(connect(4)).toEqual([1, 3, 4]);
});

it('an ended connection no longer counts', () => {
  const { connect, use, end } = limited();
  connect(1, 2, 3);
  use(1);
  end(1);
  end(2);
  expect(connect(4, 5)).toEqual([3, 4, 5]);
  expect(connect(6)).toEqual([4, 5, 6]);
});
