import type { Server, Socket } from 'node:net';

/** A server reports its useful connections here, so that they are closed last. */
export interface ConnectionLimit {
  /** Marks the connection as useful: others are closed before it. @param socket of a request, also a TLS socket */
  readonly keep: (socket: Socket) => void;
}

/**
 * Keeps at most this many connections open. One more closes a connection of the address that has the most: the oldest one that was not useful yet, or
 * else the least recently used one. So idle connections do not block new ones, as they would if the newest were refused, and one host with many
 * connections does not close those of others.
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

/** A TLS socket is a different object than its connection, but has the same peer. */
function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

type OpenConnection = readonly [peer: string, socket: Socket];

/** @param open - in the order in which they are closed. */
function findVictim(open: readonly OpenConnection[]): OpenConnection | undefined {
  const byAddress = Map.groupBy(open, ([peer]) => addressOf(peer));
  const [most] = [...byAddress.values()].toSorted((one, other) => other.length - one.length);
  return most?.[0];
}

function addressOf(peer: string): string {
  const [address = ''] = peer.split(' ', 1);
  return address;
}
