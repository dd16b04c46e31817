import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps at most so many connections open: one more closes the oldest. So idle connections do not block new ones, as they would if
 * the newest were refused.
 */
export function limitConnections(server: Server, most: number): void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const [oldest] = open;
    if (open.size <= most || oldest === undefined) return;
    open.delete(oldest);
    oldest.destroy();
  });
}
