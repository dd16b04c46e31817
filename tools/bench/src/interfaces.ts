import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AGENT_BIN } from '@vmdhcp/lab';
import { machineYaml, poolYaml } from './servers.js';
import type { Measurement, TestBed } from './test-bed.js';

const INTERFACES = 100;
const CLIENTS_EACH = 100;

export interface InterfacesResult {
  readonly window: number;
  readonly measurement: Measurement;
}

/** One agent on a hundred interfaces, each with a pool of its own. */
export async function measureInterfaces(bed: TestBed): Promise<InterfacesResult[]> {
  const indexes = Array.from({ length: INTERFACES }, (_, index) => index);
  for (const index of indexes) bed.addPair(index, `10.${index}.0.1`);
  const folder = bed.folder();
  const pools = join(folder, 'pools.yaml');
  const objects = indexes.map((index) =>
    poolYaml(`net-${index}`, `10.${index}`, [`10.${index}.0.1`, `10.${index}.0.10`, `10.${index}.255.250`]),
  );
  for (let client = 0; client < INTERFACES * CLIENTS_EACH; client++)
    objects.push(machineYaml(`net-${client % INTERFACES}`, client));
  writeFileSync(pools, objects.join('---\n'));
  const interfaces = indexes.map((index) => `cli${index}`);
  const server = await bed.startServer(
    {
      command: process.execPath,
      parameters: [
        ...[AGENT_BIN, 'serve', '--pools', pools, '--state', join(folder, 'state'), '--http', 'off'],
        ...indexes.flatMap((index) => ['--interface', `net-${index}=srv${index}`]),
      ],
    },
    interfaces,
  );
  const results: InterfacesResult[] = [];
  for (const window of [64, 256]) {
    const measurement = await bed.measure(server, {
      mode: 'direct',
      interfaces,
      window,
      seconds: 5,
      clients: INTERFACES * CLIENTS_EACH,
    });
    results.push({ window, measurement });
  }
  await server.stop();
  return results;
}
