import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Keeps at most so many connections open: the oldest is closed for one more. Connections that are held open for nothing then keep
 * out nobody, as they would where the newest is refused.
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
