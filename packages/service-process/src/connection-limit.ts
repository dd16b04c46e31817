import type { Server, Socket } from 'node:net';

/** What a server reports of its connections, so that those which are of use are closed last. */
export interface ConnectionLimit {
  /** The connection is of use: others are closed before it. @param socket of a request; that of TLS too */
  readonly keep: (socket: Socket) => void;
}

/**
 * Keeps at most so many connections open: one more closes one of the address that has the most, the oldest of those that were of no use yet, or else the
 * one whose last use is longest ago. So idle connections do not block new ones, as they would if the newest were refused, and one host with many
 * connections closes none of the others.
 */
export function limitConnections(server: Server, most: number): ConnectionLimit {
  const unused = new Map<string, Socket>();
  const used = new Map<string, Socket>();
  server.on('connection', (socket: Socket) => {
    const peer = peerOf(socket);
    unused.set(peer, socket);
    socket.once('close', () => {
      for (const sockets of [unused, used]) if (sockets.get(peer) === socket) sockets.delete(peer);
    });
    if (unused.size + used.size <= most) return;
    const victim = findVictim([...unused, ...used].filter(([one]) => one !== peer));
    if (victim === undefined) return;
    for (const sockets of [unused, used]) sockets.delete(victim[0]);
    victim[1].destroy();
  });
  return {
    keep: (socket) => {
      const peer = peerOf(socket);
      const open = unused.get(peer) ?? used.get(peer);
      if (open === undefined) return;
      unused.delete(peer);
      used.delete(peer);
      used.set(peer, open);
    },
  };
}

/** The socket of TLS is another object than the connection below it, of the same peer. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

type OpenConnection = readonly [peer: string, socket: Socket];

/** @param open - those to be closed first in front. */
function findVictim(open: readonly OpenConnection[]): OpenConnection | undefined {
  const byAddress = Map.groupBy(open, ([peer]) => addressOf(peer));
  const [most] = [...byAddress.values()].toSorted((one, other) => other.length - one.length);
  return most?.[0];
}

function addressOf(peer: string): string {
  const [address = ''] = peer.split(' ', 1);
  return address;
}
