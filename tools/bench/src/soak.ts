import { CLIENTS, SERVER_ADDRESS } from './served-network.js';
import { SERVERS } from './servers.js';
import { RELAY_ADDRESS, type TestBed } from './test-bed.js';

const SECONDS = 60;
const SLICE_SECONDS = 10;

export interface SoakSlice {
  readonly afterSeconds: number;
  readonly residentMegabytes: number;
  readonly exchangesPerSecond: number;
  readonly lost: number;
}

/** A minute of full load on the agent, and its memory every ten seconds. The first ten seconds are warm-up. */
export async function soak(bed: TestBed, progress: (text: string) => void): Promise<SoakSlice[]> {
  bed.addPair(0, SERVER_ADDRESS, RELAY_ADDRESS);
  const [agent] = SERVERS;
  if (agent === undefined) return [];
  const server = await bed.startServer(agent.prepare(bed.folder()), ['cli0']);
  const slices: SoakSlice[] = [];
  for (let second = SLICE_SECONDS; second <= SECONDS + SLICE_SECONDS; second += SLICE_SECONDS) {
    const measured = await bed.measure(server, {
      mode: 'direct',
      interfaces: ['cli0'],
      window: 64,
      seconds: SLICE_SECONDS,
      clients: CLIENTS,
    });
    const { residentMegabytes, exchangesPerSecond, lost } = measured;
    slices.push({ afterSeconds: second, residentMegabytes, exchangesPerSecond, lost });
    progress(`soak: ${second} s, ${residentMegabytes.toFixed(1)} MB`);
  }
  await server.stop();
  return slices;
}
