import type { AgentTraffic } from '@vmdhcp/dhcp-agent/packet-path';

/** The number of clients written before the event loop gets its turn. */
const CLIENTS_PER_CHUNK = 100;

export interface ClientsFilter {
  readonly pool?: string | undefined;
  readonly mac?: string | undefined;
}

/**
 * Yields the output of `vmdhcp-agent clients --json` in pieces, so that thousands of clients do not delay packets. @param agent -
 * the name of the pod or the host.
 */
export function* clientsDocument(agent: string, traffic: AgentTraffic, filter: ClientsFilter): Generator<string> {
  const pools = traffic.pools().filter(({ pool }) => filter.pool === undefined || pool === filter.pool);
  const head = { agent, sinceMs: traffic.sinceMs, others: { replaced: traffic.replaced(), packets: traffic.notNoted }, pools };
  let chunk = `${JSON.stringify(head).slice(0, -1)},"clients":[`;
  let count = 0;
  for (const client of traffic.clients(filter)) {
    chunk += `${count === 0 ? '' : ','}\n${JSON.stringify(client)}`;
    if (++count % CLIENTS_PER_CHUNK === 0) {
      yield chunk;
      chunk = '';
    }
  }
  yield `${chunk}\n]}\n`;
}
