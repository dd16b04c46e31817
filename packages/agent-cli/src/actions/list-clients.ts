import { existsSync } from 'node:fs';
import { askControl, formatClients, hasPodControl, podControlPath, stateControlPath } from '@vmdhcp/agent-process';
import { escapeUnprintable } from '@vmdhcp/service-process';

export interface ClientsOptions {
  readonly state?: string;
  readonly pool?: string;
  /** In canonical form. */
  readonly mac?: string;
  readonly json?: boolean;
}

const DEFAULT_STATE = '/var/lib/vmdhcp-agent';

/** Prints what each client sent to an agent and which replies it got. @throws CommandError */
export async function listClients({ state, pool, mac, json = false }: ClientsOptions): Promise<void> {
  const decoder = new TextDecoder();
  const parts: Uint8Array[] = [];
  for await (const part of askControl(controlPath(state), { ask: 'clients', pool, mac })) {
    if (json) process.stdout.write(escapeUnprintable(decoder.decode(part, { stream: true })));
    else parts.push(part);
  }
  if (!json)
    process.stdout.write(formatClients(JSON.parse(Buffer.concat(parts).toString('utf8')), { withPackets: mac !== undefined }));
}

/** From the agent in this container, otherwise from the one on this host. */
export function controlPath(state: string | undefined): string {
  if (state !== undefined) return stateControlPath(state);
  const [inPod, onHost] = [podControlPath(), stateControlPath(DEFAULT_STATE)];
  if (hasPodControl(inPod)) return inPod;
  return existsSync(onHost) || existsSync(inPod) ? onHost : inPod;
}
