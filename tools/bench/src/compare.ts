/** The servers side by side. */
import type { LabProcess } from '@vmdhcp/lab';
import type { LoadMode } from './load-generator.js';
import { CLIENTS } from './served-network.js';
import type { MeasuredServer } from './servers.js';
import type { MeasuredMode, ServerRow } from './tables.js';
import type { Measurement, TestBed } from './test-bed.js';

const MODES: readonly LoadMode[] = ['relayed', 'direct', 'broadcast'];
const WINDOW = 64;
const FIRST_SECONDS = 3;
/** After a start each, when all clients ask at once. */
const FIRST_MODES: readonly LoadMode[] = ['relayed', 'direct'];

export interface ComparisonSettings {
  readonly servers: readonly MeasuredServer[];
  readonly rounds: number;
  /** Length of a measurement, but for those of the first seconds. */
  readonly seconds: number;
  readonly progress: (text: string) => void;
}

type OnMeasured = (mode: MeasuredMode, measurement: Measurement) => void;

/** Every server in every mode, round by round, so that a slow minute of the machine falls on all of them. */
export async function compareServers(bed: TestBed, settings: ComparisonSettings): Promise<ServerRow[]> {
  const { servers, rounds, seconds, progress } = settings;
  const measured = new Map<MeasuredServer, Map<MeasuredMode, Measurement[]>>(servers.map((server) => [server, new Map()]));
  for (let round = 1; round <= rounds; round++) {
    for (const [server, modes] of measured) {
      const onMeasured: OnMeasured = (mode, measurement) => {
        modes.set(mode, [...(modes.get(mode) ?? []), measurement]);
        const { exchangesPerSecond, lost } = measurement;
        progress(`round ${round}: ${server.name}, ${mode}: ${exchangesPerSecond} exchanges/s, ${lost} lost`);
      };
      await measureServer(bed, { server, seconds, onMeasured }).catch((error: unknown) => {
        progress(`${server.name}: could not be measured: ${error instanceof Error ? error.message : error}`);
      });
    }
  }
  return [...measured].map(([{ name }, modes]) => ({
    name,
    modes: [...modes].map(([mode, measurements]) => ({ mode, measurements })),
  }));
}

async function measureServer(
  bed: TestBed,
  { server, seconds, onMeasured }: { readonly server: MeasuredServer; readonly seconds: number; readonly onMeasured: OnMeasured },
): Promise<void> {
  const load = { interfaces: ['cli0'], window: WINDOW, clients: CLIENTS };
  for (const mode of server.measuresFirst ? FIRST_MODES : []) {
    await whileServing(bed, server, async (started) => {
      onMeasured(`${mode}, first ${FIRST_SECONDS} s`, await bed.measure(started, { ...load, mode, seconds: FIRST_SECONDS }));
    });
  }
  await whileServing(bed, server, async (started) => {
    for (const mode of MODES) onMeasured(mode, await bed.measure(started, { ...load, mode, seconds }));
  });
}

async function whileServing(bed: TestBed, server: MeasuredServer, work: (started: LabProcess) => Promise<void>): Promise<void> {
  const started = await bed.startServer(server.prepare(bed.folder()), ['cli0']);
  try {
    await work(started);
  } finally {
    await started.stop();
  }
}
