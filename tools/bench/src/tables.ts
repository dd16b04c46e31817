/** Measurements as Markdown. */
import type { AgentSize, MemorySize } from './agent-sizes.js';
import type { ControllerSize } from './controller-sizes.js';
import type { InterfacesResult } from './interfaces.js';
import type { LatencyMs } from './latency-histogram.js';
import type { LoadMode } from './load-generator.js';
import type { SoakSlice } from './soak.js';
import type { Measurement } from './test-bed.js';

/** How clients send, and since when. */
export type MeasuredMode = LoadMode | `${LoadMode}, first ${number} s`;

export interface ServerRow {
  readonly name: string;
  /** Every mode, with one measurement for each round. */
  readonly modes: readonly { readonly mode: MeasuredMode; readonly measurements: readonly Measurement[] }[];
}

/** The measurement whose rate is in the middle. */
function median(measurements: readonly Measurement[]): Measurement {
  const sorted = measurements.toSorted((one, other) => one.exchangesPerSecond - other.exchangesPerSecond);
  return sorted[Math.floor(sorted.length / 2)] as Measurement;
}

export function formatComparison(rows: readonly ServerRow[]): string {
  const [own] = rows;
  const lines = rows.flatMap((row) =>
    row.modes.map(({ mode, measurements }) => {
      const measured = median(measurements);
      const ours = own?.modes.find((other) => other.mode === mode);
      const ratio = ours === undefined ? 0 : median(ours.measurements).exchangesPerSecond / measured.exchangesPerSecond;
      return [
        row.name,
        mode,
        measured.exchangesPerSecond.toLocaleString('en'),
        row === own || measured.exchanges === 0 || ratio === 0 ? '' : `${ratio.toFixed(ratio < 10 ? 2 : 1)}x`,
        String(measured.lost),
        percentiles(measured.discoverToOffer),
        percentiles(measured.requestToAck),
        measured.exchanges === 0 ? '' : `${measured.userMicroseconds.toFixed(1)} + ${measured.kernelMicroseconds.toFixed(1)}`,
        `${Math.round(measured.busyShare * 100)}%`,
        measured.residentMegabytes.toFixed(0),
      ];
    }),
  );
  const header = [
    'server',
    'clients',
    'exchanges/s',
    'vmdhcp-agent is',
    'lost',
    'OFFER after ms: p50 / p99 / p99.9',
    'ACK after ms',
    'CPU µs per exchange: own + kernel',
    'busy',
    'RSS MB',
  ];
  return markdown(header, lines);
}

export function formatInterfaces(results: readonly InterfacesResult[]): string {
  const lines = results.map(({ window, measurement }) => {
    const { perInterface, exchangesPerSecond, lost, requestToAck, residentMegabytes } = measurement;
    return [
      String(window),
      exchangesPerSecond.toLocaleString('en'),
      String(lost),
      `${Math.min(...perInterface)} to ${Math.max(...perInterface)}`,
      percentiles(requestToAck),
      residentMegabytes.toFixed(0),
    ];
  });
  return markdown(
    ['window, 100 interfaces', 'exchanges/s', 'lost', 'exchanges per interface', 'ACK after ms: p50 / p99 / p99.9', 'RSS MB'],
    lines,
  );
}

export function formatSoak(slices: readonly SoakSlice[]): string {
  const lines = slices.map(({ afterSeconds, residentMegabytes, exchangesPerSecond, lost }) => [
    String(afterSeconds),
    residentMegabytes.toFixed(1),
    exchangesPerSecond.toLocaleString('en'),
    String(lost),
  ]);
  return markdown(['soak: after s', 'RSS MB', 'exchanges/s', 'lost'], lines);
}

/** What the users of the first rows asked for. */
const AGENT_GOALS = ['0.7 s; 60 MB', '0.7 s; 75 MB', '2 s', '0.7 s; 75 MB'];

export function formatAgentSizes(sizes: readonly AgentSize[]): string {
  const lines = sizes.map(({ what, startMs, idle, underLoad, exchangesPerSecond }, index) => [
    what,
    (startMs / 1000).toFixed(2),
    memory(idle),
    memory(underLoad),
    (underLoad.residentMegabytes - idle.residentMegabytes).toFixed(0),
    exchangesPerSecond.toLocaleString('en'),
    `${AGENT_GOALS[index]}; under load 10 MB more`,
  ]);
  const header = ['agent', 'first reply after s', 'idle: RSS MB (private)', 'under full load', 'more', 'exchanges/s', 'goal'];
  return markdown(header, lines);
}

const CONTROLLER_GOALS = ['2 s; 90 MB', '2 s; 160 MB'];

export function formatControllerSizes(sizes: readonly ControllerSize[]): string {
  const lines = sizes.map(({ machines, startMs, restartMs, busy, idle, restarted }, index) => [
    machines.toLocaleString('en'),
    (startMs / 1000).toFixed(2),
    (restartMs / 1000).toFixed(2),
    memory(busy),
    memory(idle),
    memory(restarted),
    CONTROLLER_GOALS[index] ?? '',
  ]);
  const header = [
    'virtual machines',
    'ready after s, in an empty cluster',
    'ready after s, with all of them',
    'all have addresses: RSS MB (private)',
    '15 s later',
    'after a restart',
    'goal',
  ];
  return markdown(header, lines);
}

function memory({ residentMegabytes, privateMegabytes }: MemorySize): string {
  return `${residentMegabytes.toFixed(0)} (${privateMegabytes.toFixed(0)})`;
}

function percentiles({ p50, p99, p999 }: LatencyMs): string {
  return [p50, p99, p999].map((ms) => ms.toFixed(2)).join(' / ');
}

/** A table as Markdown. */
export function markdown(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
